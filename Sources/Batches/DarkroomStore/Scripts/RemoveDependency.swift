import DarkroomModel

extension BatchStore {
    /// Makes a batch stop waiting for another batch. Repeating the call does no harm.
    package func removeDependency(_ id: BatchID, from other: BatchID) -> ScriptCall<RemoveDependencyReply> {
        call(\.removeDependency, [id, other])
    }
}

package enum RemoveDependencyReply: Sendable, Equatable, ScriptReplyDecodable {
    /// The batch does not wait for the other batch; `isNew` if this call removed the dependency.
    case removed(isNew: Bool)
    case gone(BatchID)

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .removed(isNew: try reply.int(1) == 1)
        case "GONE": self = .gone(try reply.batch(1))
        default: throw reply.unexpected
        }
    }
}
