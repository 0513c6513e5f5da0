import DarkroomModel

extension BatchStore {
    /// Sets the focus of a batch, the photos that run next; nil clears it. Repeating the call does no harm.
    package func focus(_ id: BatchID, _ focus: BatchControls.Focus?) -> ScriptCall<FocusReply> {
        guard let focus else { return call(\.focus, [id, "", "", false]) }
        return call(\.focus, [id, focus.photos.lowerBound, focus.photos.upperBound, focus.only])
    }

    /// Clears the focus of a batch if the focus is still `photos` without `only`. Repeating the call does no harm.
    package func clearFocus(_ id: BatchID, ifStill photos: ClosedRange<Int>) -> ScriptCall<FocusReply> {
        call(\.focus, [id, "", "", false, photos.lowerBound, photos.upperBound])
    }
}

package enum FocusReply: Sendable, Equatable, ScriptReplyDecodable {
    /// The focus is in effect; `isNew` if this call changed it. `photos` is the number of photos fed so far.
    case done(isNew: Bool, photos: Int)
    case finished
    case cancelled
    case gone

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .done(isNew: try reply.int(1) == 1, photos: try reply.int(2))
        case "FINISHED": self = .finished
        case "CANCELLED": self = .cancelled
        case "GONE": self = .gone
        default: throw reply.unexpected
        }
    }
}
