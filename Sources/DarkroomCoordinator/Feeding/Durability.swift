import DarkroomRedis
import DarkroomStore
import Foundation

/// Waits until what was written through a store's connection is safe: in the append-only file of the server, and on
/// replicas.
struct Durability {
    /// How safe it has become.
    struct Outcome: Equatable {
        /// False when the server keeps no append-only file, so that there was nothing to wait for.
        var keepsFile: Bool
        /// Set when fewer replicas have confirmed it in time than were asked for.
        var lack: ReplicaLack?
    }

    let store: BatchStore
    /// How many replicas are to have it; nil: one where there are any.
    var replicas: Int?
    /// How long the append-only file may take before that is an error.
    var patience = Duration.seconds(30)
    /// How long replicas may take before it is said that they lack it.
    var replicaPatience = Duration.seconds(10)
    /// Asked at least once a second; what it throws ends the waiting.
    var check: () throws -> Void = {}

    /// Blocks until it is safe, or the patience is over.
    /// - Throws: ``CoordinatorError`` with the code `notDurable` when the append-only file does not take it.
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

    /// Blocks until the wanted number of replicas has all earlier writes, or the patience is over.
    func waitForReplicas() throws -> ReplicaLack? {
        // Asked on the connection that is to wait: WAIT is about all that was written before its last command.
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

    /// How long one WAIT blocks: less than the connection waits for any reply.
    private var waitMilliseconds: Int {
        min(1000, max(1, Int(replicaPatience / .milliseconds(1))))
    }

    private func information(_ section: String) throws(RedisError) -> ServerInformation {
        ServerInformation(try store.connection.call(RedisCommand("INFO", section)).string ?? "")
    }
}

/// What is missing to the replicas that were asked for.
package struct ReplicaLack: Sendable, Equatable, CustomStringConvertible {
    /// How many were to have the batch.
    package let asked: Int
    /// How many the server knows.
    package let connected: Int
    /// How many have confirmed that they have it.
    package let confirmed: Int
    /// How long they were waited for.
    package let patience: Duration
    /// What they were to have.
    package var subject = Subject.batch

    /// What replicas were to have.
    package enum Subject: Sendable {
        /// A batch that was fed.
        case batch
        /// What a call changed for a batch or for the cluster.
        case change
    }

    /// What was asked, what was found, what that means, what to do.
    package var description: String {
        let replicas = asked == 1 ? "1 replica" : "\(asked) replicas"
        let found =
            connected == 0
            ? "Redis has none" : "Redis has \(connected) connected, of which \(confirmed) confirmed it"
        let seconds = patience.components.seconds
        return switch subject {
        case .batch:
            "\(replicas) should have the batch, but \(found) within \(seconds) s; all is fed, and until more have it a "
                + "failover may lose photos (then feed again with --resume); look at the replicas: darkroom doctor"
        case .change:
            "\(replicas) should have this change, but \(found) within \(seconds) s; the change is made, and until more have "
                + "it a failover may lose it (then make it again); look at the replicas: darkroom doctor"
        }
    }
}
