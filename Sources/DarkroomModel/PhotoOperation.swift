/// A custom operation. Workers run it for each photo of a batch whose only filter is ``PhotoFilter/custom(_:)``.
///
/// ```swift
/// struct Checksum: PhotoOperation {
///     func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
///         var sum: UInt64 = 0
///         for (position, byte) in photo.bytes.enumerated() {
///             if position % 65_536 == 0, photo.isCancelled { throw CancellationError() }
///             sum &+= UInt64(byte)
///         }
///         return Array("\(photo.record.name) \(sum)\n".utf8)
///     }
/// }
///
/// var configuration = PhotoWorkerConfiguration()
/// try configuration.register("checksum") { Checksum() }
/// ```
///
/// The worker creates a new operation for each photo, on the filtration thread that runs it. As many operations run at once as
/// the worker has filtrations. If an operation crashes, the worker ends, and other workers take over its photos.
public protocol PhotoOperation {
    /// Creates the bytes of a file from a photo. May block. Should check ``DownloadedPhoto/isCancelled`` regularly: if it is
    /// true, the result is discarded.
    /// - Returns: the bytes of the file. The file's extension is that of the picture's format; if the bytes are no picture, that of
    ///   the photo's name or URL, otherwise `bin`.
    /// - Throws: any error. The photo fails for the reason ``FailureReason/filterFailed`` with the error's text.
    func main(_ photo: DownloadedPhoto) throws -> [UInt8]
}

/// A photo for a custom operation.
public struct DownloadedPhoto: Sendable {
    /// The photo's index, name and URL in the list.
    public let record: PhotoRecord
    /// The downloaded bytes, unchecked. They may be no picture.
    public let bytes: [UInt8]
    private let cancelled: @Sendable () -> Bool

    /// True if the result will be discarded, because the batch was cancelled or the worker stops. Any thread may read it.
    public var isCancelled: Bool { cancelled() }

    /// A photo, also for tests of an operation.
    /// - Parameters:
    ///   - record: the index, name and URL.
    ///   - bytes: the downloaded bytes.
    ///   - isCancelled: returns the value of ``isCancelled``.
    public init(record: PhotoRecord, bytes: [UInt8], isCancelled: @escaping @Sendable () -> Bool = { false }) {
        self.record = record
        self.bytes = bytes
        cancelled = isCancelled
    }
}
