import DarkroomConcurrency
import Foundation

/// A connection to Redis, shared by any number of threads and tasks.
///
/// A dedicated thread owns the connection. Commands are pipelined: the thread does not wait for replies before it sends
/// the next commands. Each call gets the replies to its own commands, in order.
///
/// - The connection is established when the first command is sent. After the connection is lost, the next command
///   starts a reconnection, which loads the scripts first. Commands in flight when the connection is lost fail with
///   ``RedisError/Code/disconnected`` and are never sent twice. While the server is unreachable, connection attempts
///   are 25 ms to 0.5 s apart. If an attempt fails, all commands that wait for it fail with the same error. The caller
///   decides whether to retry.
/// - If the server replies with an error, the result is a `.failure` with the code ``RedisError/Code/server`` and the
///   reply in ``RedisError/serverReply``. Errors inside arrays are returned as values.
/// - If the server has lost a script (SCRIPT FLUSH, failover), the EVALSHA command is sent again as EVAL with the
///   source. The script then runs after the commands that were in flight at the same time, and before commands sent
///   later.
///
/// Blocking commands and subscriptions (``RedisSubscription``) need separate connections.
package final class RedisConnection: Sendable {
    private let configuration: RedisConfiguration
    private let mailbox = ConnectionMailbox()
    private let thread: OwnedThread
    private let observer: (@Sendable (ConnectionObservation) -> Void)?

    /// Creates a connection that connects when the first command is sent.
    /// - Parameter observer: called on the connection's thread. Must not block.
    package init(
        _ configuration: RedisConfiguration, scripts: [RedisScript] = [],
        observer: (@Sendable (ConnectionObservation) -> Void)? = nil
    ) {
        self.configuration = configuration
        self.observer = observer
        let mailbox = mailbox
        thread = OwnedThread("redis") {
            ConnectionLoop(configuration, scripts: scripts, mailbox: mailbox) { observer?(.reconnected) }.run()
        }
    }

    deinit { mailbox.post(.close) }

    /// Connects now, so that the caller learns of a wrong address or password before the first command. Blocks.
    package func connect() throws(RedisError) {
        _ = try call(RedisCommand("PING"))
    }

    /// Sends `commands` as one pipeline. `completion` is called with all results, in order.
    ///
    /// Never blocks. `completion` is called exactly once, on the connection's thread (on the caller's thread if
    /// `commands` is empty or the connection was closed). `completion` must return quickly and must not block.
    package func send(
        _ commands: [RedisCommand], completion: @escaping @Sendable ([Result<RedisValue, RedisError>]) -> Void
    ) {
        guard !commands.isEmpty else { return completion([]) }
        let completion = observed(completion)
        if !mailbox.post(.call(RedisCall(commands, completion: completion))) {
            completion(Array(repeating: .failure(.closed(configuration)), count: commands.count))
        }
    }

    /// Returns a completion that calls `completion`, and also passes the duration of the call to the observer if the
    /// server has replied to all commands.
    private func observed(
        _ completion: @escaping @Sendable ([Result<RedisValue, RedisError>]) -> Void
    ) -> @Sendable ([Result<RedisValue, RedisError>]) -> Void {
        guard let observer else { return completion }
        let began = ContinuousClock.now
        return { results in
            if results.allSatisfy(\.isReply) { observer(.answered(.now - began)) }
            completion(results)
        }
    }

    /// Sends `commands` as one pipeline and waits for their results. Blocks the thread; must not be called in a task.
    package func call(_ commands: [RedisCommand]) -> [Result<RedisValue, RedisError>] {
        precondition(!thread.isCurrent, "a blocking call inside a completion would wait for itself")
        let answered = DispatchSemaphore(value: 0)
        let results = Locked<[Result<RedisValue, RedisError>]>([])
        send(commands) { all in
            results.withLock { $0 = all }
            answered.signal()
        }
        answered.wait()
        return results.withLock { $0 }
    }

    /// Sends a command and waits for its reply. Blocks the thread; must not be called in a task.
    package func call(_ command: RedisCommand) throws(RedisError) -> RedisValue {
        try call([command])[0].get()
    }

    /// Closes the connection. Commands in flight and later commands fail with ``RedisError/Code/closed``.
    ///
    /// Blocks until the connection's thread has ended. If the thread is connecting, this call can take as long as the
    /// connect timeout. Inside a completion, the function returns at once.
    package func close() {
        mailbox.post(.close)
        thread.join()
    }
}

extension Result<RedisValue, RedisError> {
    /// Whether the result is a reply of the server, including an error reply.
    fileprivate var isReply: Bool {
        switch self {
        case .success: true
        case .failure(let error): error.serverReply != nil
        }
    }
}
