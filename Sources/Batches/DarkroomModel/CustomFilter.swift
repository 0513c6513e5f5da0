/// A custom filter, which workers run for each photo of a batch whose filters contain
/// ``PhotoFilter/custom(_:arguments:)``.
///
/// As the first filter it gets the downloaded bytes; after other filters it gets their result as a PNG file.
///
/// ```swift
/// struct Checksum: CustomFilter {
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
/// The worker creates a new filter for each photo, on the filtration thread that runs the filter. The limit on
/// filtrations is also the maximum number of filters that a worker runs at a time. If a filter crashes, the
/// worker ends, and other workers take over its photos.
public protocol CustomFilter {
    /// Creates the bytes of a file from a photo. May block. Should check ``DownloadedPhoto/isCancelled`` regularly: if
    /// it is true, the result is discarded.
    /// - Returns: the bytes of the file. If the bytes are a picture, the file gets the extension of the picture's
    ///   format; otherwise it gets the extension in the photo's name or URL, or `bin` if neither has an extension.
    /// - Throws: any error. The photo then fails with the reason ``FailureReason/filterFailed`` and the error's text.
    func main(_ photo: DownloadedPhoto) throws -> [UInt8]
}

/// A photo that is passed to a custom filter.
public struct DownloadedPhoto: Sendable {
    /// The photo's index, name and URL in the list.
    public let record: PhotoRecord
    /// The downloaded bytes, which have not been checked and need not be a picture; after other filters a PNG file.
    public let bytes: [UInt8]
    /// The text after `=` in the filter `x:NAME=arguments`; empty without arguments.
    public let arguments: String
    /// The largest number of pixels that the worker accepts.
    package var maxPixels = 100_000_000
    private let cancelled: @Sendable () -> Bool

    /// True if the result will be discarded: the batch was cancelled or the worker is stopping. Safe on any thread.
    public var isCancelled: Bool { cancelled() }

    /// Creates a photo, for example to test a filter.
    /// - Parameters:
    ///   - record: the index, name and URL.
    ///   - bytes: the downloaded bytes.
    ///   - arguments: the arguments of the filter.
    ///   - isCancelled: returns the value of ``isCancelled``.
    public init(
        record: PhotoRecord, bytes: [UInt8], arguments: String = "",
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.record = record
        self.bytes = bytes
        self.arguments = arguments
        cancelled = isCancelled
    }
}
