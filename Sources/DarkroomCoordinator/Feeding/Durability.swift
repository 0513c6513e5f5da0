import DarkroomRedis
import DarkroomStore
import Foundation

/// Waits until what was written through a store's connection is safe: in the append-only file of the server, and on one
/// replica where there are any.
struct Durability {
    let store: BatchStore
    /// How long to wait before saying that it is not.
    var patience = Duration.seconds(30)

    /// Blocks until it is safe.
    /// - Returns: false when the server keeps no append-only file, so that nothing could be waited for.
    func wait() throws -> Bool {
        let deadline = ContinuousClock.now + patience
        let keepsFile = try waitForFile(until: deadline)
        try waitForReplica(until: deadline)
        return keepsFile
    }

    private func waitForFile(until deadline: ContinuousClock.Instant) throws -> Bool {
        guard try information("persistence")["aof_enabled"] == "1" else { return false }
        while ContinuousClock.now < deadline {
            if try isInFile() { return true }
        }
        throw CoordinatorError(
            .notDurable,
            "all is fed and sealed, but the append-only file of Redis has not taken it for "
                + "\(patience.components.seconds) s; look at its disk and its log")
    }

    /// WAITAOF (since 7.2) says when it is on the disk; without it, the file has it when its buffer is empty.
    private func isInFile() throws -> Bool {
        switch store.connection.call([RedisCommand("WAITAOF", "1", "0", "1000")])[0] {
        case .success(let reply): return (reply.array?.first?.int ?? 0) >= 1
        case .failure(let error) where error.code != .server: throw error
        case .failure: break  // no such command
        }
        if try information("persistence")["aof_buffer_length"] == "0" { return true }
        usleep(5000)  // Redis writes its buffer before it waits for the next command
        return false
    }

    private func waitForReplica(until deadline: ContinuousClock.Instant) throws {
        guard let replicas = try information("replication")["connected_slaves"], replicas != "0" else { return }
        while ContinuousClock.now < deadline {
            // On the connection that wrote: WAIT is about what this one has written.
            if let count = try store.connection.call(RedisCommand("WAIT", "1", "1000")).int, count >= 1 { return }
        }
        throw CoordinatorError(
            .notDurable,
            "all is fed and sealed, but none of \(replicas) replicas of Redis has confirmed it for "
                + "\(patience.components.seconds) s; until one does, a failover loses photos")
    }

    private func information(_ section: String) throws(RedisError) -> ServerInformation {
        ServerInformation(try store.connection.call(RedisCommand("INFO", section)).string ?? "")
    }
}
