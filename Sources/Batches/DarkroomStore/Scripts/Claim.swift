import DarkroomModel

extension BatchStore {
    /// Renews the leases of the operations that the worker holds, then claims more operations.
    /// - Parameters:
    ///   - worker: the id of the worker.
    ///   - number: the number of this claim, which must grow with every claim of a worker. If the last number is
    ///     repeated, the reply contains the same operations.
    ///   - operations: the maximum number of operations to claim, up to 16.
    ///   - photos: the maximum number of photos to claim, up to 4,000. At least one operation is claimed, whatever its
    ///     size.
    ///   - lowest: the lowest priority to claim.
    ///   - next: the value `next` of the previous reply, or "" to begin with the first ready batch.
    ///   - focus: if not nil, only operations in the focus of this batch are claimed; nil claims from all batches.
    ///   - refusals: the changes to the set of refused batches since the last claim.
    ///   - without: further batches that only this claim skips; at most ``RefusalChanges/limit``.
    ///   - held: the operations that the worker holds.
    package func claim(
        worker: String, number: Int, operations: Int = 16, photos: Int = 4000, lowest: BatchPriority = .veryLow,
        next: String = "", focus: BatchID? = nil, refusals: RefusalChanges = RefusalChanges(),
        without: [BatchID] = [], held: [HeldOperation] = []
    ) -> ScriptCall<ClaimReply> {
        var arguments: [any ScriptArgument] = [
            worker, number, operations, photos, lowest.rank, next, focus?.description ?? "", refusals.replacesAll,
        ]
        for batches in [refusals.added, refusals.removed, without] {
            arguments.append(batches.count)
            arguments += batches
        }
        return call(\.claim, arguments + HeldOperation.arguments(held))
    }
}

/// The changes to a worker's set of refused batches since the last claim of the worker. Redis keeps this set in a
/// separate key, so that a claim can skip any number of refused batches.
package struct RefusalChanges: Sendable, Equatable {
    /// The maximum number of batches in `added`, and in `removed`.
    package static let limit = 1000

    /// Whether Redis empties the set before it applies the changes.
    package var replacesAll: Bool
    /// Batches that the worker refuses from now on.
    package var added: [BatchID]
    /// Batches that the worker no longer refuses.
    package var removed: [BatchID]

    /// Creates a set of changes, which is empty by default.
    package init(replacesAll: Bool = false, added: [BatchID] = [], removed: [BatchID] = []) {
        self.replacesAll = replacesAll
        self.added = added
        self.removed = removed
    }
}

package enum ClaimReply: Sendable, Equatable, ScriptReplyDecodable {
    /// A later claim was answered before this claim. Nothing was done.
    case old
    case claimed(Claimed)

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OLD": self = .old
        case "OK": self = .claimed(try Claimed(reply))
        default: throw reply.unexpected
        }
    }
}

package struct Claimed: Sendable, Equatable {
    package var operations: [ClaimedOperation]
    /// The operations that the worker no longer holds: they are queued again, or another worker holds them.
    package var lost: [HeldOperation]
    /// The position at which the next claim continues; "" if this claim looked at all ready batches.
    package var next: String
    /// The number of the last change of a flag, limit, priority or focus.
    package var version: Int
    package var cluster: ClusterControls
    /// A counter that grows whenever a batch enters a ready queue.
    package var turn: Int
    /// The number of batches in the worker's set of refused batches in Redis.
    package var refusals: Int
    /// The time after which a worker that holds no operation claims again, because other workers hold several
    /// operations and may release some; nil if the worker waits until a batch enters a ready queue.
    package var again: Duration?
    /// The controls of each batch with claimed operations.
    package var controls: [BatchID: BatchControls]
    /// The invalid batch ids in the reply. The worker does not run operations of these batches.
    package var invalid: [String] = []
    /// For each damaged batch in the reply: the reason why one of its claimed operations cannot be run.
    package var damaged: [BatchID: String] = [:]
}

extension Claimed {
    fileprivate init(_ reply: ScriptReply) throws(StoreError) {
        let fencingToken = try reply.int(1)
        guard let cluster = ClusterControls(try reply.string(5)) else { throw reply.unexpected }
        self.init(
            operations: [], lost: try reply.operations(2), next: try reply.string(3), version: try reply.int(4),
            cluster: cluster, turn: try reply.int(6), refusals: try reply.int(7), controls: [:])
        let milliseconds = try reply.int(8)
        if milliseconds > 0 { again = .milliseconds(milliseconds) }
        for element in reply.elements.dropFirst(9) {
            guard let list = element.array, list.count > 1, let name = list[0].bytes,
                let text = list[1].string, let controls = BatchControls(text)
            else { throw reply.unexpected }
            // Skip only this batch: the other batches of the reply are valid.
            guard let batch = list[0].batch else {
                invalid.append(String(decoding: name, as: UTF8.self))
                continue
            }
            self.controls[batch] = controls
            for at in stride(from: 2, to: list.count - 4, by: 5) {
                guard let number = list[at].operation, let stateCodes = list[at + 1].bytes,
                    let leaseExpiries = list[at + 2].number
                else { throw reply.unexpected }
                // Skip only this operation: the other operations of the reply are valid. Its lease will expire.
                guard let entry = list[at + 3].bytes else {
                    damaged[batch] = "operation \(number) has no entry"
                    continue
                }
                let held = HeldOperation(batch: batch, number: number, fencingToken: fencingToken)
                operations.append(
                    ClaimedOperation(
                        held: held, stateCodes: stateCodes, leaseExpiries: leaseExpiries, entry: entry,
                        retries: list[at + 4].string ?? ""))
            }
        }
    }
}
