/// A custom operation: what a worker does with each photo of a batch whose only filter is ``PhotoFilter/custom(_:)``.
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
/// Each photo gets an operation of its own, made on the thread that runs it, one of the worker's filtration threads. As many run at
/// once as the worker has filtrations. If an operation crashes, the worker ends, and other workers take over its photos.
public protocol PhotoOperation {
    /// Makes the bytes of a file from a photo. Blocks as long as that takes, and checks ``DownloadedPhoto/isCancelled`` now and
    /// then: if it is true, the result is dropped.
    /// - Returns: the bytes of the file. Its ending is that of the format of a picture, otherwise that of the photo's name or URL,
    ///   otherwise `bin`.
    /// - Throws: any error. The photo fails for the reason ``FailureReason/filterFailed``, and the error's text is kept with it.
    func main(_ photo: DownloadedPhoto) throws -> [UInt8]
}

/// A photo for a custom operation.
public struct DownloadedPhoto: Sendable {
    /// Its index, name and URL in the list.
    public let record: PhotoRecord
    /// Its bytes as they were downloaded. Nothing has checked them; they may be no picture at all.
    public let bytes: [UInt8]
    private let cancelled: @Sendable () -> Bool

    /// True if the result is not wanted any more: the batch was cancelled, or the worker stops. Any thread may ask.
    public var isCancelled: Bool { cancelled() }

    /// A photo, also for tests of an operation.
    /// - Parameters:
    ///   - record: its index, name and URL.
    ///   - bytes: its bytes.
    ///   - isCancelled: what ``isCancelled`` returns.
    public init(record: PhotoRecord, bytes: [UInt8], isCancelled: @escaping @Sendable () -> Bool = { false }) {
        self.record = record
        self.bytes = bytes
        cancelled = isCancelled
    }
}
