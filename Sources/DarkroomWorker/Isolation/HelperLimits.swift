import DarkroomImaging

/// What one helper process may use while it develops a photo. What needs more fails as `out-of-memory`, or as `crashed` where
/// that ends the process.
public struct HelperLimits: Sendable, Equatable {
    /// Address space in bytes (`RLIMIT_AS`). Nil is enough for the largest photo that ``WorkerConfiguration/maxPixels`` lets in: 2 GiB
    /// for the libraries, and for each pixel what the encoder of the format needs, 32 bytes, 64 of AVIF, 96 of JPEG XL (measured
    /// with 16 bits and alpha: 43 and 76).
    public var memory: Int?
    /// Processor time for one photo (`RLIMIT_CPU`); by the clock it may take three times as much and a minute. The slowest of
    /// what is let in, AVIF and HEIC of 100 million pixels, takes about a quarter of the usual 5 minutes.
    public var processorTime: Duration = .seconds(300)
    /// Open files (`RLIMIT_NOFILE`).
    public var openFiles = 64

    /// The limits that hold unless told.
    public init() {}

    /// Address space for photos of at most so many pixels that become files of this format.
    static func memory(maxPixels: Int, format: ImageFormat?) -> Int {
        let pixel =
            switch format {
            case .avif: 64
            case .jxl: 96
            default: 32
            }
        return 2 << 30 + pixel * maxPixels
    }
}
