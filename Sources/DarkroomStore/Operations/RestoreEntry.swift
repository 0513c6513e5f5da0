import DarkroomModel

extension BatchStore {
    /// Writes the entry of an operation that ended with failures again, so that it can be retried.
    package func restoreEntry(_ id: BatchID, operation number: Int, entry: [UInt8]) -> ScriptCall<RestoreEntryReply> {
        call(StoreScripts.restoreEntry, [id, number, entry])
    }
}

package enum RestoreEntryReply: Sendable, Equatable, ScriptReplyDecodable {
    case restored
    /// The operation has not ended, none of its photos failed, or Redis has its entry.
    case notNeeded
    case gone

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .restored
        case "NEEDLESS": self = .notNeeded
        case "GONE": self = .gone
        default: throw reply.unexpected
        }
    }
}
