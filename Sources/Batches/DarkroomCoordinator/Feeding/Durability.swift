import DarkroomModel
import DarkroomRedis
import DarkroomStore
import Foundation

/// Waits until all writes of a store's connection are durable: in the append-only file of the server, and on replicas.
struct Durability {
    /// The result of the wait.
    struct Outcome: Equatable {
        /// False if the server does not keep an append-only file.
        var keepsFile: Bool
        /// Set if too few replicas have confirmed the writes in time.
        var lack: ReplicaLack?
    }

    let store: BatchStore
    /// The number of replicas that must confirm the writes; nil means one if Redis has replicas.
    var replicas: Int?
    /// The longest time to wait for the append-only file before ``wait()`` throws.
    var patience = Duration.seconds(30)
    /// The longest time to wait for replicas before ``wait()`` returns a ``ReplicaLack``.
    var replicaPatience = Duration.seconds(10)
    /// Called at least once a second. If it throws, the wait ends.
    var check: () throws -> Void = {}

    /// Blocks until the writes are durable or the time limits have passed.
    /// - Throws: ``CoordinatorError`` with the code `notDurable` if the writes are not in the append-only file in time.
    func wait() throws -> Outcome {
        Outcome(keepsFile: try waitForFile(), lack: try waitForReplicas())
    }

    private func waitForFile() throws -> Bool {
        let deadline = ContinuousClock.now + patience
        guard try information("persistence")["aof_enabled"] == "1" else { return false }
        while ContinuousClock.now < deadline {
            if try isInFile() { return true }
            try check()
        }
        throw CoordinatorError(
            .notDurable,
            "the batch is fed and sealed, but the append-only file of Redis does not have it after "
                + "\(patience.components.seconds) s; check the disk and the log of Redis")
    }

    /// WAITAOF (since Redis 7.2) reports when the writes are on disk. On older servers, the writes are in the file as
    /// soon as the buffer of the file is empty.
    private func isInFile() throws -> Bool {
        switch store.connection.call([RedisCommand("WAITAOF", "1", "0", "1000")])[0] {
        case .success(let reply): return (reply.array?.first?.int ?? 0) >= 1
        case .failure(let error) where error.code != .server: throw error
        case .failure: break  // the server is too old for this command
        }
        if try information("persistence")["aof_buffer_length"] == "0" { return true }
        usleep(5000)  // Redis writes the buffer before it waits for the next command
        return false
    }

    /// Blocks until enough replicas have confirmed all earlier writes, or the time limit has passed.
    func waitForReplicas() throws -> ReplicaLack? {
        // WAIT waits for all writes that were made before the previous command on its connection. That command is the
        // INFO of `connectedReplicas()`, so the INFO must use the same connection.
        var connected = try connectedReplicas()
        let wanted = replicas ?? min(connected, 1)
        guard wanted > 0 else { return nil }
        let deadline = ContinuousClock.now + replicaPatience
        var confirmed = 0
        repeat {
            try check()
            let reply = try store.connection.call(RedisCommand("WAIT", "\(wanted)", "\(waitMilliseconds)"))
            confirmed = reply.int ?? 0
            if confirmed >= wanted { return nil }
        } while ContinuousClock.now < deadline
        connected = try connectedReplicas()
        return ReplicaLack(asked: wanted, connected: connected, confirmed: confirmed, patience: replicaPatience)
    }

    private func connectedReplicas() throws -> Int { try information("replication").int("connected_slaves") ?? 0 }

    /// The time for which one WAIT blocks: less than the reply timeout of the connection.
    private var waitMilliseconds: Int {
        min(1000, max(1, Int(replicaPatience / .milliseconds(1))))
    }

    private func information(_ section: String) throws(RedisError) -> ServerInformation {
        ServerInformation(try store.connection.call(RedisCommand("INFO", section)).string ?? "")
    }
}

/// Reports that too few replicas have confirmed a write.
package struct ReplicaLack: Equatable, Remediable {
    package let asked: Int
    package let connected: Int
    package let confirmed: Int
    package let patience: Duration
    package var subject = Subject.batch

    /// The kind of write that the replicas should confirm.
    package enum Subject: Sendable {
        case batch
        case change
    }

    /// The required number of replicas, the number of replicas that confirmed the write, and the consequence.
    package var problem: String {
        let replicas = asked == 1 ? "1 replica" : "\(asked) replicas"
        let found =
            connected == 0
            ? "Redis has none" : "Redis has \(connected) connected, of which \(confirmed) confirmed it"
        let seconds = patience.components.seconds
        return switch subject {
        case .batch:
            "\(replicas) should have the batch, but \(found) within \(seconds) s; the batch is fed, but until more have it a "
                + "failover may lose photos (then feed its list again)"
        case .change:
            "\(replicas) should have this change, but \(found) within \(seconds) s; the change is made, but until more have "
                + "it a failover may lose it (then make it again)"
        }
    }

    package var remedies: [Remedy] { [.checkReplicas] }
}
