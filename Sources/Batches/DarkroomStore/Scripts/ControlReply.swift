/// The reply of ``BatchStore/suspend(_:_:_:)`` and ``BatchStore/prioritize(_:_:)``.
package enum ControlReply: Sendable, Equatable, ScriptReplyDecodable {
    /// The setting is in effect; `isNew` if this call changed it.
    case done(isNew: Bool)
    case finished
    case cancelled
    case gone

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .done(isNew: try reply.int(1) == 1)
        case "FINISHED": self = .finished
        case "CANCELLED": self = .cancelled
        case "GONE": self = .gone
        default: throw reply.unexpected
        }
    }
}
