import DarkroomImaging

/// The limits of a helper process for one photo, besides ``WorkerConfiguration/photoTimeout``. A photo that needs more fails as
/// `out-of-memory`, or as `crashed` if the process ends.
package struct HelperLimits: Sendable, Equatable {
    /// Address space in bytes (`RLIMIT_AS`). Nil is enough for the largest photo that ``WorkerConfiguration/maxPixels`` lets in: 2 GiB
    /// for the libraries, and for each pixel what the encoder of the format needs, 32 bytes, 64 of AVIF, 96 of JPEG XL (measured
    /// with 16 bits and alpha: 43 and 76).
    package var memory: Int?
    /// Open files (`RLIMIT_NOFILE`).
    package var openFiles = 64

    /// The largest file that an operation of a program's own may make of a photo, in bytes. The worker holds it in memory.
    package var ownFileBytes = 256 << 20

    /// The limits that hold unless told.
    package init() {}

    /// Address space for photos of at most so many pixels that become files of this format.
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

    /// The largest address space that ``memory(maxPixels:format:)`` gives, whatever the format.
    static func maxMemory(maxPixels: Int) -> Int {
        ImageFormat.allCases.map { memory(maxPixels: maxPixels, format: $0) }.max() ?? 0
    }

    /// The largest file that filters make of a photo of so many bytes and pixels. The largest formats have 8 bytes a pixel (16 bits,
    /// alpha), of which LZW may make 12; metadata come on top.
    static func fileBytes(of photo: Int, pixels: Int) -> Int { 64 << 20 + 2 * photo + 12 * min(pixels, 1 << 50) }
}
