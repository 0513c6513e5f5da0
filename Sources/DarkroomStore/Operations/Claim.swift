import DarkroomModel

extension BatchStore {
    /// Claims operations, after it renewed the leases of the operations that the worker holds.
    /// - Parameters:
    ///   - worker: the id of the worker.
    ///   - number: grows with every claim of a worker; the same number again gets the same reply.
    ///   - operations: at most 16.
    ///   - photos: at most 4,000; at least one operation is claimed, whatever its size.
    ///   - lowest: the lowest priority that is claimed.
    ///   - next: `next` of the previous claim, "" to begin.
    ///   - focus: a batch of which only operations in focus are claimed; nil for operations of all batches.
    ///   - refusals: how the set of refused batches has changed since the last claim.
    ///   - without: batches that this claim leaves out, at most ``RefusalChanges/limit``.
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
        return call(StoreScripts.claim, arguments + HeldOperation.arguments(held))
    }
}

/// How the set of batches that a worker refuses has changed since its last claim. Redis keeps this set beside the worker's
/// hash, so claims skip any number of refused batches.
package struct RefusalChanges: Sendable, Equatable {
    /// The most batches of each kind in one claim.
    package static let limit = 1000

    /// Whether Redis empties the set first.
    package var replacesAll: Bool
    /// Batches that the worker refuses from now on.
    package var added: [BatchID]
    /// Batches that the worker no longer refuses.
    package var removed: [BatchID]

    /// By default no changes.
    package init(replacesAll: Bool = false, added: [BatchID] = [], removed: [BatchID] = []) {
        self.replacesAll = replacesAll
        self.added = added
        self.removed = removed
    }
}

package enum ClaimReply: Sendable, Equatable, ScriptReplyDecodable {
    /// A later claim was answered before this one; nothing was done.
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

/// An operation that a claim handed out.
package struct ClaimedOperation: Sendable, Equatable {
    /// Batch, number and fencing token.
    package let held: HeldOperation
    /// One state code a photo, as they stand.
    package let stateCodes: [UInt8]
    /// How many leases of it have expired.
    package let leaseExpiries: Int
    /// Its photos as ``EntryCoding`` packs them.
    package let entry: [UInt8]
}

package struct Claimed: Sendable, Equatable {
    package var operations: [ClaimedOperation]
    /// The operations that the worker no longer holds: they are queued again, or another worker holds them.
    package var lost: [HeldOperation]
    /// Where the next claim goes on, "" if all ready batches were looked at.
    package var next: String
    /// The number of the last change of a flag, limit, priority or focus.
    package var version: Int
    package var cluster: ClusterControls
    /// The turn of the ready queues, which grows whenever a batch enters one.
    package var turn: Int
    /// How many batches the worker refuses, as Redis knows it.
    package var refusals: Int
    /// The controls of each batch of which operations were claimed.
    package var controls: [BatchID: BatchControls]
    /// Invalid ids of batches in the reply. Their operations are not run.
    package var invalid: [String] = []
    /// The damage of batches of which an operation cannot be run.
    package var damaged: [BatchID: String] = [:]
}

extension Claimed {
    fileprivate init(_ reply: ScriptReply) throws(StoreError) {
        let fencingToken = try reply.int(1)
        guard let cluster = ClusterControls(try reply.string(5)) else { throw reply.unexpected }
        self.init(
            operations: [], lost: try reply.operations(2), next: try reply.string(3), version: try reply.int(4),
            cluster: cluster, turn: try reply.int(6), refusals: try reply.int(7), controls: [:])
        for element in reply.elements.dropFirst(8) {
            guard let list = element.array, list.count > 1, let name = list[0].string,
                let text = list[1].string, let controls = BatchControls(text)
            else { throw reply.unexpected }
            // The operations of other batches in the reply are valid.
            guard let batch = BatchID(name) else {
                invalid.append(name)
                continue
            }
            self.controls[batch] = controls
            for at in stride(from: 2, to: list.count - 3, by: 4) {
                guard let number = list[at].operation, let stateCodes = list[at + 1].bytes,
                    let leaseExpiries = list[at + 2].number
                else { throw reply.unexpected }
                // The other operations of the reply are valid. The lease of this one expires.
                guard let entry = list[at + 3].bytes else {
                    damaged[batch] = "operation \(number) has no entry"
                    continue
                }
                let held = HeldOperation(batch: batch, number: number, fencingToken: fencingToken)
                operations.append(
                    ClaimedOperation(held: held, stateCodes: stateCodes, leaseExpiries: leaseExpiries, entry: entry))
            }
        }
    }
}
