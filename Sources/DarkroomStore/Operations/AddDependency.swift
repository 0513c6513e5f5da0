import DarkroomModel

extension BatchStore {
    /// Makes a batch wait for another. Repeating the call does no harm. The caller must look for circles first.
    /// - Parameters:
    ///   - id: the batch.
    ///   - other: the batch that it is to wait for.
    ///   - version: ``dependencyVersion()`` before the caller read the dependencies.
    package func addDependency(_ id: BatchID, on other: BatchID, version: Int) -> ScriptCall<AddDependencyReply> {
        call(StoreScripts.addDependency, [id, other, version])
    }
}

package enum AddDependencyReply: Sendable, Equatable, ScriptReplyDecodable {
    case added(isNew: Bool)
    /// The other batch has finished: there is nothing to wait for.
    case finishedBefore
    /// The other batch has finished without success, and this batch waits for success only: this batch was cancelled.
    case failedBefore
    /// The batch has started: too late.
    case started
    case cancelled
    /// Dependencies have changed since `version`: read them again.
    case moved
    case gone(BatchID)
    /// A batch cannot wait for itself.
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
