import DarkroomConcurrency

/// A thread that runs attempts with libcurl. Any thread may call its functions.
///
/// Attempts of the same host should run on the same thread, because each thread has its own connections.
final class NetworkThread: Sendable {
    private let mailbox: Mailbox<NetworkMessage>
    private let thread: OwnedThread

    /// - Parameter ended: Called on the new thread with each attempt that has begun, exactly once, unless the thread is
    ///   shut down before the attempt ends.
    init(
        _ configuration: TransferConfiguration, allows: @escaping @Sendable (IPAddress) -> Bool,
        ended: @escaping @Sendable (Attempt, Attempt.Outcome) -> Void
    ) {
        let wakeup = Wakeup()
        let mailbox = Mailbox<NetworkMessage> { wakeup.signal() }
        self.mailbox = mailbox
        thread = OwnedThread("darkroom-network") {
            let settings = EasySettings(configuration, allows: allows)
            NetworkLoop(settings, mailbox: mailbox, wakeup: wakeup, ended: ended).run()
        }
    }

    func begin(_ attempt: Attempt) { mailbox.post(.begin(attempt)) }

    /// Ends an attempt early, with `.cancelled`, unless it has already ended.
    func abort(_ attempt: Attempt) { mailbox.post(.abort(attempt)) }

    /// Closes all connections and ends the thread. Waits until the thread has ended.
    func shutdown() {
        mailbox.post(.shutdown)
        thread.join()
    }
}

/// A message to a ``NetworkThread``.
enum NetworkMessage {
    case begin(Attempt)
    case abort(Attempt)
    case shutdown
}
