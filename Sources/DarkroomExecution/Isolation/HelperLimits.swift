import DarkroomImaging

/// The limits of a helper process for one photo, besides ``WorkerConfiguration/photoTimeout``. A photo that needs more fails as
/// `out-of-memory`, or as `crashed` if the process ends.
package struct HelperLimits: Sendable, Equatable {
    /// Address space in bytes (`RLIMIT_AS`). Nil gives enough for the largest photo that ``WorkerConfiguration/maxPixels`` allows:
    /// 2 GiB for the libraries, and for each pixel 32 bytes, 64 for AVIF, 96 for JPEG XL. With 16 bits and alpha, AVIF was
    /// measured to need 43 bytes a pixel and JPEG XL 76.
    package var memory: Int?
    /// Open files (`RLIMIT_NOFILE`).
    package var openFiles = 64

    /// The largest file in bytes that a custom operation may make of a photo. The worker holds it in memory.
    package var ownFileBytes = 256 << 20

    package init() {}

    /// Address space in bytes for photos of at most `maxPixels` pixels that become files of this format.
    static func memory(maxPixels: Int, format: ImageFormat?) -> Int {
        let pixel =
            switch format {
            case .avif: 64
            case .jxl: 96
            default: 32
            }
        // No machine has memory for more than 2^50 pixels.
        return 2 << 30 + pixel * min(max(maxPixels, 0), 1 << 50)
    }

    /// The largest result of ``memory(maxPixels:format:)`` for any format.
    static func maxMemory(maxPixels: Int) -> Int {
        ImageFormat.allCases.map { memory(maxPixels: maxPixels, format: $0) }.max() ?? 0
    }

    /// The size in bytes of the largest file that filters make of a photo of `photo` bytes. The largest formats have 8 bytes a
    /// pixel (16 bits, alpha), and LZW may need 12 for them; metadata are added.
    static func fileBytes(of photo: Int, pixels: Int) -> Int { 64 << 20 + 2 * photo + 12 * min(pixels, 1 << 50) }
}
