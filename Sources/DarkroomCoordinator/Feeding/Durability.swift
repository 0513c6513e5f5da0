import DarkroomRedis
import DarkroomStore
import Foundation

/// Waits until what was written through a store's connection is safe: in the append-only file of the server, and on
/// replicas.
struct Durability {
    let store: BatchStore
    /// How many replicas are to have it; nil: one where there are any.
    var replicas: Int?
    /// How long to wait before saying that it is not.
    var patience = Duration.seconds(30)
    /// Is told when too few replicas have confirmed it within the patience, a sentence for users; nil: that is an error.
    var warn: ((String) -> Void)?

    /// Blocks until it is safe.
    /// - Returns: false when the server keeps no append-only file, so that nothing could be waited for.
    func wait() throws -> Bool {
        let deadline = ContinuousClock.now + patience
        let keepsFile = try waitForFile(until: deadline)
        try waitForReplicas(until: deadline)
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

    private func waitForReplicas(until deadline: ContinuousClock.Instant) throws {
        // Asked on the connection that is to wait: WAIT is about all that was written before its last command.
        let connected = try information("replication")["connected_slaves"].flatMap { Int($0) } ?? 0
        let wanted = replicas ?? min(connected, 1)
        guard wanted > 0 else { return }
        var confirmed = 0
        repeat {
            let reply = try store.connection.call(RedisCommand("WAIT", "\(wanted)", "\(waitMilliseconds)"))
            confirmed = reply.int ?? 0
            if confirmed >= wanted { return }
        } while ContinuousClock.now < deadline
        let found =
            connected == 0
            ? "Redis has no replica" : "\(confirmed) of the \(connected) replicas of Redis have confirmed it"
        let message =
            "all is fed and sealed, but \(found) after \(patience.components.seconds) s, asked for is \(wanted); until then, a "
            + "failover loses photos"
        guard let warn else { throw CoordinatorError(.notDurable, message) }
        warn(message)
    }

    /// How long one WAIT blocks: less than the connection waits for any reply.
    private var waitMilliseconds: Int {
        min(1000, max(1, Int(patience / .milliseconds(1))))
    }

    private func information(_ section: String) throws(RedisError) -> ServerInformation {
        ServerInformation(try store.connection.call(RedisCommand("INFO", section)).string ?? "")
    }
}
