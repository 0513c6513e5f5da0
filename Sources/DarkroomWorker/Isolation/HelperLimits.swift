/// What one helper process may use while it develops a photo. What needs more fails as `out-of-memory`, or as `crashed` where
/// that ends the process.
public struct HelperLimits: Sendable, Equatable {
    /// Address space in bytes (`RLIMIT_AS`). Nil is enough for the largest photo that ``WorkerConfiguration/maxPixels`` lets in:
    /// 2 GiB for the libraries and their working buffers, and 8 bytes a pixel.
    public var memory: Int?
    /// Processor time for one photo (`RLIMIT_CPU`); by the clock it may take three times as much and a minute. The slowest of
    /// what is let in, AVIF and HEIC of 100 million pixels, takes about a quarter of the usual 5 minutes.
    public var processorTime: Duration = .seconds(300)
    /// Open files (`RLIMIT_NOFILE`).
    public var openFiles = 64

    /// The limits that hold unless told.
    public init() {}

    /// Address space for photos of at most so many pixels.
    func memory(maxPixels: Int) -> Int { memory ?? 2 << 30 + 8 * maxPixels }
}
