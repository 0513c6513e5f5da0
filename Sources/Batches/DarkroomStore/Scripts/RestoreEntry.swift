import DarkroomModel

extension BatchStore {
    /// Writes the missing entry of an operation that ended with failures, so that its failed photos can be retried.
    package func restoreEntry(_ id: BatchID, operation number: Int, entry: [UInt8]) -> ScriptCall<RestoreEntryReply> {
        call(\.restoreEntry, [id, number, entry])
    }
}

package enum RestoreEntryReply: Sendable, Equatable, ScriptReplyDecodable {
    case restored
    /// The operation has not ended, it has no failed photo, or Redis already has its entry.
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
