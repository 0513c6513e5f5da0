import DarkroomModel

extension BatchStore {
    /// Makes a batch wait for another batch. The call is idempotent. The caller must check for circular dependencies.
    /// - Parameters:
    ///   - id: the batch.
    ///   - other: the batch to wait for.
    ///   - version: the result of ``dependencyVersion()``, called before the caller read the dependencies.
    package func addDependency(_ id: BatchID, on other: BatchID, version: Int) -> ScriptCall<AddDependencyReply> {
        call(\.addDependency, [id, other, version])
    }
}

package enum AddDependencyReply: Sendable, Equatable, ScriptReplyDecodable {
    case added(isNew: Bool)
    /// The other batch has finished, so no dependency is needed.
    case finishedBefore
    /// This batch requires success, and the other batch finished without success. The call cancelled this batch.
    case failedBefore
    /// The batch has started, so it can no longer wait.
    case started
    case cancelled
    /// Dependencies have changed since `version`: the caller must read them again.
    case moved
    case gone(BatchID)
    /// Both ids name the same batch.
    case itself

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .added(isNew: try reply.int(1) == 1)
        case "OVER": self = .finishedBefore
        case "FAILED": self = .failedBefore
        case "STARTED": self = .started
        case "CANCELLED": self = .cancelled
        case "MOVED": self = .moved
        case "GONE": self = .gone(try reply.batch(1))
        case "ITSELF": self = .itself
        default: throw reply.unexpected
        }
    }
}
