import DarkroomModel
import DarkroomRedis

extension BatchStore {
    /// Does one bounded step of checking batches, and of repairing a batch whose data in Redis contradict each other.
    /// Repeating the call does no harm, and any number of callers may call it at the same time.
    /// - Parameter batch: a batch that must be checked before others; nil for none.
    package func repair(_ batch: BatchID? = nil) -> ScriptCall<RepairReply> {
        call(
            StoreScripts.repair,
            [batch?.description ?? "", [FailureReason.other.stateCode] as [UInt8], Self.lostOperation])
    }

    /// Does up to `steps` steps of ``repair(_:)``. Does nothing if the Redis user lacks the permissions, or if Redis has
    /// no memory for the check: a later call continues.
    /// - Parameter wanted: batches that must be checked before others.
    /// - Returns: true if a check is still in progress, and the batches that were repaired.
    package func repair(_ wanted: [BatchID] = [], steps: Int) throws(StoreError) -> (hasMore: Bool, repaired: [BatchID])
    {
        var repaired: [BatchID] = []
        var wanted = wanted[...]
        for _ in 0..<max(steps, wanted.count) {
            do {
                let reply = try perform(repair(wanted.popFirst()))
                if let batch = reply.checked, reply.repairs > 0 { repaired.append(batch) }
                if !reply.hasMore, wanted.isEmpty { return (false, repaired) }
            } catch {
                guard error.redis?.outlook == .full || error.isOfPermissions else { throw error }
                return (false, repaired)
            }
        }
        return (true, repaired)
    }

    /// The text that Redis keeps for photos of an operation without an entry.
    private static let lostOperation =
        #"{"name":"","url":"","reason":"other","detail":"Redis lost the operation of this photo; retry the photo with its list"}"#
}

/// The reply of ``BatchStore/repair(_:)``.
package struct RepairReply: Sendable, Equatable, ScriptReplyDecodable {
    /// Whether a check is in progress, which the next call continues.
    package var hasMore: Bool
    /// The batch whose check this call has completed; nil if it has completed none.
    package var checked: BatchID?
    /// The number of corrections of this batch.
    package var repairs: Int

    init(_ reply: ScriptReply) throws(StoreError) {
        guard reply.status == "OK" else { throw reply.unexpected }
        hasMore = try reply.int(1) == 1
        let name = try reply.string(2)
        // An id that Darkroom did not write is skipped.
        checked = name.isEmpty ? nil : BatchID(name)
        repairs = try reply.int(3)
    }
}

extension StoreError {
    /// Whether the Redis user may not run the script or one of its commands. Users that were created from the files of
    /// an earlier version lack the commands of newer scripts.
    var isOfPermissions: Bool {
        redis?.serverErrorName == "NOPERM" || redis?.serverReply?.contains("ACL failure in script") == true
    }
}
