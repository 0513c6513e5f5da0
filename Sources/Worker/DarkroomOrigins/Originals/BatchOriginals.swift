import DarkroomConcurrency
import DarkroomModel
import DarkroomStorage

/// The originals of a batch in a worker: their folder, and notes about the originals that cannot be decoded.
package final class BatchOriginals: Sendable {
    package let folder: OriginalsFolder
    /// The file system of the folder; nil if it cannot be identified.
    package let domain: StorageDomain?
    /// The originals that cannot be decoded, by the index of their photo. These photos are downloaded again.
    private let unusable = Locked<[Int: Unusable]>([:])

    /// Bytes in the folder that cannot be decoded. Another batch may have developed these bytes with other options.
    /// Therefore the bytes stay in the folder until another download returns usable bytes or the same bytes. The same
    /// bytes can be removed without a loss, because the server still has them.
    package struct Unusable: Sendable {
        package let reason: FailureReason
        package let detail: String
        /// The SHA-256 digest of the bytes.
        package let digest: [UInt8]

        package init(reason: FailureReason, detail: String, digest: [UInt8]) {
            self.reason = reason
            self.detail = detail
            self.digest = digest
        }

        /// The detail of the photo's failure if the photo also fails with the bytes of another download.
        package func detail(after reason: FailureReason, _ other: String) -> String {
            "\(detail); downloaded again: \(reason.word)\(other.isEmpty ? "" : ": \(other)")"
        }
    }

    /// Finds out the file system of the folder. Blocks.
    package init(_ folder: OriginalsFolder) {
        self.folder = folder
        domain = folder.domain
    }

    /// Whether the original of a photo cannot be decoded.
    package func isUnusable(_ index: Int) -> Bool { unusable.withLock { $0[index] != nil } }

    /// Notes that the original of a photo cannot be decoded.
    package func note(_ bytes: Unusable, of index: Int) { unusable.withLock { $0[index] = bytes } }

    /// Removes and returns the note about the original of a photo.
    @discardableResult
    package func takeUnusable(_ index: Int) -> Unusable? { unusable.withLock { $0.removeValue(forKey: index) } }
}
