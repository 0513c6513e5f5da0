import DarkroomConcurrency

/// A thread that runs attempts with libcurl. Only the thread of the engine calls these methods.
///
/// All attempts to a host should use the same thread, because a thread cannot use the connections of another thread.
final class NetworkThread {
    private let mailbox: Mailbox<NetworkMessage>
    private let body: @Sendable () -> Void
    /// The thread, which starts with the first attempt.
    private var thread: OwnedThread?

    /// Creates the pipe and the epoll instance of the thread now, because the process may have no free file descriptors
    /// when the thread starts.
    /// - Parameter maxConnections: the largest number of connections that are kept open, including connections in use.
    /// - Parameter ended: Called on the new thread when an attempt has ended, exactly once for each attempt. Not called
    ///   for attempts that are running when the thread is shut down.
    /// - Parameter held: Called on the new thread with an attempt that needs memory for `bytes` of its body and that
    ///   waits for ``proceed(_:mayKeep:)``.
    init(
        _ configuration: TransferConfiguration, _ shares: NetworkShares, maxConnections: Int,
        allows: @escaping @Sendable (IPAddress) -> Bool,
        ended: @escaping @Sendable (Attempt, Attempt.Outcome) -> Void,
        held: @escaping @Sendable (Attempt, _ bytes: Int, _ hasBody: Bool) -> Void
    ) {
        let wakeup = Wakeup()
        let mailbox = Mailbox<NetworkMessage> { wakeup.signal() }
        self.mailbox = mailbox
        // Only the new thread uses the loop.
        nonisolated(unsafe) let loop = NetworkLoop(
            EasySettings(configuration, allows: allows), shares, maxConnections: maxConnections, mailbox: mailbox,
            wakeup: wakeup, ended: ended,
            held: held)
        body = { loop.run() }
    }

    func begin(_ attempt: Attempt) {
        if thread == nil { thread = OwnedThread("darkroom-network", body) }
        mailbox.post(.begin(attempt))
    }

    /// Ends an attempt early, with `.cancelled`, unless it has already ended.
    func abort(_ attempt: Attempt) { mailbox.post(.abort(attempt)) }

    /// Continues a held attempt, which may keep `bytes` of its body in memory.
    func proceed(_ attempt: Attempt, mayKeep bytes: Int) { mailbox.post(.proceed(attempt, mayKeep: bytes)) }

    /// Closes all connections and ends the thread. Does not wait.
    func shutdown() { mailbox.post(.shutdown) }

    /// Waits until the thread has ended.
    func join() { thread?.join() }
}

/// A message to a ``NetworkThread``.
enum NetworkMessage {
    case begin(Attempt)
    case abort(Attempt)
    case proceed(Attempt, mayKeep: Int)
    case shutdown
}
