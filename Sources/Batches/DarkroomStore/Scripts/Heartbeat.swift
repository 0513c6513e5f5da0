import DarkroomModel
import DarkroomRedis

extension BatchStore {
    /// Records that a worker is running, and the changed facts about the worker. Renews the leases of its operations,
    /// and does one step of maintenance. Without a worker, the call does only the maintenance.
    package func heartbeat(
        worker: String?, facts: [(field: String, value: String)] = [], held: [HeldOperation] = []
    ) -> ScriptCall<HeartbeatReply> {
        var arguments: [any ScriptArgument] = [worker ?? "", facts.count]
        for (field, value) in facts { arguments += [field, value] }
        return call(\.heartbeat, arguments + HeldOperation.arguments(held))
    }

    /// Does one bounded step of the maintenance that heartbeats of workers do, so that maintenance proceeds even if no
    /// worker is running. Does nothing if the Redis user lacks the permissions.
    /// - Returns: true if there is more to do.
    package func maintain() throws(StoreError) -> Bool {
        do {
            let reply = try perform(heartbeat(worker: nil))
            guard reply.isRepairDue else { return reply.hasMore }
            return try repair(steps: Self.repairStepsAtOnce).hasMore || reply.hasMore
        } catch {
            guard error.isOfPermissions else { throw error }
            return false
        }
    }

    /// The maximum number of steps of ``repair(_:steps:)`` after a heartbeat. A step occupies Redis for about 2 ms.
    package static let repairStepsAtOnce = 5
}

package struct HeartbeatReply: Sendable, Equatable {
    /// The state codes of an operation that the worker holds.
    package struct StateCodes: Sendable, Equatable {
        package let batch: BatchID
        package let number: Int
        package let stateCodes: [UInt8]
    }

    /// The operations that the worker no longer holds: they are queued again, or another worker holds them.
    package var lost: [HeldOperation]
    /// The number of the last change of a flag, limit, priority or focus.
    package var version: Int
    package var cluster: ClusterControls
    /// The controls of each batch that the worker named and that exists.
    package var controls: [BatchID: BatchControls]
    /// The state codes of each held operation whose batch has photos that were cancelled individually.
    package var stateCodes: [StateCodes]
    /// Up to 10 webhooks that are due.
    package var webhooks: [DueWebhook]
    /// True if there is more maintenance to do, which another heartbeat may do at once.
    package var hasMore: Bool
    /// A counter that grows whenever a batch enters a ready queue.
    package var turn: Int
    /// An operation that a lost worker held, with the fencing token of the lost worker's claim. The worker that sent
    /// the heartbeat must remove the operation's temporary files with this fencing token or a lower one.
    package var staleFiles: HeldOperation?
    /// True if the caller must check batches with ``BatchStore/repair(_:steps:)``.
    package var isRepairDue = false
    /// The number of workers that do the maintenance, see `workers` in `Heartbeat.lua`.
    package var workers = 0
}

extension HeartbeatReply: ScriptReplyDecodable {
    init(_ reply: ScriptReply) throws(StoreError) {
        guard reply.status == "OK" else { throw reply.unexpected }
        let texts = try reply.array(2)
        guard texts.count >= 2, let version = texts[0].number,
            let cluster = texts[1].string.flatMap(ClusterControls.init)
        else { throw reply.unexpected }
        self.init(
            lost: try reply.operations(1), version: version, cluster: cluster, controls: [:], stateCodes: [],
            webhooks: [], hasMore: try reply.int(5) == 1, turn: try reply.int(6))
        for at in stride(from: 2, to: texts.count - 1, by: 2) {
            guard let batch = texts[at].batch, let controls = texts[at + 1].string.flatMap(BatchControls.init)
            else { throw reply.unexpected }
            self.controls[batch] = controls
        }
        let lists = try reply.array(3)
        for at in stride(from: 0, to: lists.count - 2, by: 3) {
            guard let batch = lists[at].batch, let number = lists[at + 1].operation, let bytes = lists[at + 2].bytes
            else { throw reply.unexpected }
            stateCodes.append(StateCodes(batch: batch, number: number, stateCodes: bytes))
        }
        let due = try reply.array(4)
        for at in stride(from: 0, to: due.count - 2, by: 3) {
            // Skip a webhook with an invalid member, time or URL: Darkroom did not write it.
            guard let member = due[at].string, let score = due[at + 1].number, let url = due[at + 2].string,
                let webhook = DueWebhook(member: member, score: score, url: url)
            else { continue }
            webhooks.append(webhook)
        }
        // Skip an invalid member of `stale.files`: Darkroom did not write it.
        let left = try reply.array(7)
        if left.count == 3, let batch = left[0].batch, let number = left[1].operation, let fencingToken = left[2].number
        {
            staleFiles = HeldOperation(batch: batch, number: number, fencingToken: fencingToken)
        }
        isRepairDue = try reply.int(8) == 1
        workers = try reply.int(9)
    }
}
