import DarkroomModel

extension BatchStore {
    /// Reopens a batch whose list has grown.
    /// - Parameters:
    ///   - id: the batch.
    ///   - fed: the number of operations and photos, and the digest, of the feed that was compared with the list.
    ///   - last: the last operation with the new photos added; nil if it already has the full operation size.
    package func grow(
        _ id: BatchID, fed: (operations: Int, photos: Int, digest: String),
        last: (photos: Int, entry: [UInt8], digest: String)?
    ) -> ScriptCall<GrowReply> {
        call(
            \.grow,
            [
                id, fed.operations, fed.photos, fed.digest, last?.photos ?? 0, last?.entry ?? [],
                last?.digest ?? "",
            ])
    }
}

/// The reply of ``BatchStore/grow(_:fed:last:)``. Only ``grown`` means that something was written.
package enum GrowReply: Sendable, Equatable, ScriptReplyDecodable {
    case grown
    case gone
    case cancelled
    /// The feed in Redis differs from `fed`.
    case differs
    /// Another batch has taken the output folder.
    case outputTaken(by: BatchID)
    /// The last operation is executing, or the dependents of the batch are being released: try again.
    case busy

    init(_ reply: ScriptReply) throws(StoreError) {
        switch reply.status {
        case "OK": self = .grown
        case "GONE": self = .gone
        case "CANCELLED": self = .cancelled
        case "DIFFERS": self = .differs
        case "OUTPUT": self = .outputTaken(by: try reply.batch(1))
        case "BUSY": self = .busy
        default: throw reply.unexpected
        }
    }
}
