import DarkroomModel
import DarkroomRedis

extension BatchStore {
    /// Does one bounded step of checking batches, and of repairing a batch whose data in Redis contradict each other.
    /// Repeating the call does no harm, and any number of callers may call it at the same time.
    /// - Parameter batch: a batch that must be checked before others; nil for none.
    package func repair(_ batch: BatchID? = nil) -> ScriptCall<RepairReply> {
        call(
            \.repair,
            [batch?.description ?? "", [FailureReason.other.stateCode] as [UInt8], Self.lostOperation])
    }

    /// Does up to `steps` steps of ``repair(_:)``. If Redis replies with an error, a later call continues the check.
    /// Such an error is expected if the user lacks permissions, or if Redis lacks memory for the check. Throws only if
    /// Redis does not reply.
    /// - Parameter wanted: batches that must be checked before others.
    /// - Returns: whether a check is still in progress, and the repaired batches.
    package func repair(_ wanted: [BatchID] = [], steps: Int) throws(StoreError) -> RepairSteps {
        var done = RepairSteps()
        var wanted = wanted[...]
        for _ in 0..<max(steps, wanted.count) {
            do {
                let reply = try perform(repair(wanted.popFirst()))
                if let batch = reply.checked, reply.repairs > 0 { done.repaired.append(batch) }
                if let skipped = reply.skipped { done.skipped.append(skipped) }
                if !reply.hasMore, wanted.isEmpty { return done }
            } catch {
                guard error.redis == nil || error.redis?.serverReply != nil else { throw error }
                let isExpected = error.redis?.outlook == .full || error.isOfPermissions
                if !isExpected { done.skipped.append(SkippedRepair(batch: nil, error: error.description)) }
                return done
            }
        }
        done.hasMore = true
        return done
    }

    /// The failure text that Redis stores for the photos of an operation whose entry is missing.
    private static let lostOperation =
        #"{"name":"","url":"","reason":"other","detail":"Redis lost the operation of this photo; retry the photo with its list"}"#
}

/// The result of ``BatchStore/repair(_:steps:)``.
package struct RepairSteps: Sendable {
    /// Whether a check is still in progress.
    package var hasMore = false
    /// The batches that were repaired.
    package var repaired: [BatchID] = []
    /// The checks that ended because of an error.
    package var skipped: [SkippedRepair] = []
}

/// A check that ended because of an error, for example because another program has changed data in Redis that only the
/// script writes. A later check starts from the beginning.
package struct SkippedRepair: Sendable, Equatable {
    /// The batch of the check; nil if it is not known.
    package var batch: BatchID?
    /// The error of the script.
    package var error: String
}

/// The reply of ``BatchStore/repair(_:)``.
package struct RepairReply: Sendable, Equatable, ScriptReplyDecodable {
    /// Whether a check is in progress, which the next call continues.
    package var hasMore: Bool
    /// The batch whose check this call has completed; nil if it has completed none.
    package var checked: BatchID?
    /// The number of corrections of this batch.
    package var repairs: Int
    /// The check that this call has ended because of an error; nil without an error.
    package var skipped: SkippedRepair?

    init(_ reply: ScriptReply) throws(StoreError) {
        guard reply.status == "OK" else { throw reply.unexpected }
        hasMore = try reply.int(1) == 1
        let name = try reply.string(2)
        // An id that Darkroom did not write is skipped.
        checked = name.isEmpty ? nil : BatchID(name)
        repairs = try reply.int(3)
        let error = try reply.string(5)
        skipped = error.isEmpty ? nil : SkippedRepair(batch: BatchID(try reply.string(4)), error: error)
    }
}

extension StoreError {
    /// Whether the access rules of Redis forbid this user the script or one of its commands. Users that were created
    /// from the files of an earlier version lack the commands of newer scripts.
    package var isOfPermissions: Bool {
        // Redis 7.0, and later versions.
        let refusals = ["The user executing the script can't", "ACL failure in script"]
        let reply = redis?.serverReply ?? ""
        return redis?.serverErrorName == "NOPERM" || refusals.contains { reply.contains($0) }
    }
}
