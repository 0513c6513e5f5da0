import DarkroomConcurrency
import Foundation

/// A connection to a Redis, for any number of threads and tasks.
///
/// A thread of its own owns the connection. Commands are pipelined: those that come while others are on their way go out
/// together with the next write, and each call gets its own replies, in order.
///
/// - It connects with the first command and again, by itself, with the first command after it was lost; then the scripts
///   are loaded again before anything else. Commands in flight when it is lost fail with
///   ``RedisError/Code/disconnected`` and are never sent twice. While the server cannot be reached, attempts are 25 ms to
///   0.5 s apart, and every command that waits for an attempt fails with it; whether to try again is up to the caller.
/// - A command that the server answers with an error is a `.failure` with the code ``RedisError/Code/server`` and the
///   reply in ``RedisError/serverReply``. Errors inside arrays stay values.
/// - EVALSHA of a script that the server has lost (SCRIPT FLUSH, failover) is sent again with its source. It then comes
///   after the commands that were in flight with it; what is sent later keeps its place behind it.
///
/// Commands that block, and subscriptions (``RedisSubscription``), need a connection of their own.
package final class RedisConnection: Sendable {
    private let configuration: RedisConfiguration
    private let mailbox = ConnectionMailbox()
    private let thread: OwnedThread

    /// A connection that is made with the first command.
    package init(_ configuration: RedisConfiguration, scripts: [RedisScript] = []) {
        self.configuration = configuration
        let mailbox = mailbox
        thread = OwnedThread("redis") {
            ConnectionLoop(configuration, scripts: scripts, mailbox: mailbox).run()
        }
    }

    deinit { mailbox.post(.close) }

    /// Connects now, so that a wrong address or password shows here. Blocks.
    package func connect() throws(RedisError) {
        _ = try call(RedisCommand("PING"))
    }

    /// Sends `commands` as one pipeline; `completion` gets their results, in order, when all are there.
    ///
    /// Never blocks. `completion` is called exactly once, on the connection's thread (on the caller's if there is
    /// nothing to do or the connection was closed); it must be short, and must not make a blocking call.
    package func send(
        _ commands: [RedisCommand], completion: @escaping @Sendable ([Result<RedisValue, RedisError>]) -> Void
    ) {
        guard !commands.isEmpty else { return completion([]) }
        if !mailbox.post(.call(RedisCall(commands, completion: completion))) {
            completion(Array(repeating: .failure(.closed(configuration)), count: commands.count))
        }
    }

    /// Sends `commands` as one pipeline and returns their results, in order.
    package func send(_ commands: [RedisCommand]) async -> [Result<RedisValue, RedisError>] {
        await withCheckedContinuation { continuation in
            send(commands) { continuation.resume(returning: $0) }
        }
    }

    /// Sends `commands` as one pipeline and waits for their results. Blocks: for threads of one's own, not for tasks.
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

    /// Sends a command and waits for its reply. Blocks: for threads of one's own, not for tasks.
    package func call(_ command: RedisCommand) throws(RedisError) -> RedisValue {
        try call([command])[0].get()
    }

    /// Closes the connection: what is in flight fails with ``RedisError/Code/closed``, as does everything later.
    ///
    /// Returns when the connection's thread has ended (while it is connecting, that can take the connect timeout);
    /// inside a completion it returns at once.
    package func close() {
        mailbox.post(.close)
        thread.join()
    }
}
