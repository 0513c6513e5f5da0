import DarkroomConcurrency
import DarkroomModel

/// An operation of one's own: what a worker does with each photo of a batch whose filter is `x:NAME`, in place of its own
/// filters.
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
/// var configuration = WorkerConfiguration()
/// try configuration.register(Checksum.self, as: "checksum")
/// ```
///
/// Each photo has an operation of its own, made on the thread that runs it, one of the worker's filtration threads; as many
/// run at once as the worker has filtrations. A crash in it ends the worker: the photos that it held are taken over by others.
public protocol PhotoOperation: SendableMetatype {
    /// An operation that has not run.
    init()

    /// Makes something of a photo. Blocks for as long as that takes, and looks at ``DownloadedPhoto/isCancelled`` now and
    /// then: when it is true, the result is thrown away whatever it is.
    /// - Returns: the bytes of the file to write. Its ending is that of their format where they are a picture, else that of
    ///   the photo's name or URL, else `bin`.
    /// - Throws: the photo fails with the reason `filter-failed`, the error's text is kept with it.
    func main(_ photo: DownloadedPhoto) throws -> [UInt8]
}

/// A photo as an operation of one's own gets it.
public struct DownloadedPhoto: Sendable {
    /// Where it stands in the list, what it is called and where it lies.
    public let record: PhotoRecord
    /// Its bytes as they were downloaded: not looked at, perhaps no picture at all.
    public let bytes: [UInt8]
    private let cancelled: @Sendable () -> Bool

    /// True once the result is not wanted any more: its batch was cancelled, or the worker has to stop. May be asked from any
    /// thread.
    public var isCancelled: Bool { cancelled() }

    /// A photo, also for tests of an operation.
    public init(record: PhotoRecord, bytes: [UInt8], isCancelled: @escaping @Sendable () -> Bool = { false }) {
        self.record = record
        self.bytes = bytes
        cancelled = isCancelled
    }
}
