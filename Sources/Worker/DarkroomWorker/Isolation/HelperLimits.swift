import DarkroomImaging
import DarkroomRecipes

/// The limits of a helper process for one photo, in addition to ``PhotoWorkerConfiguration/photoTimeout``. A photo that
/// exceeds a limit fails as `out-of-memory`, or as `crashed` if the process ends.
enum HelperLimits {
    /// The number of open files (`RLIMIT_NOFILE`).
    static let openFiles = 64

    /// The largest file in bytes that a custom filter may produce. The worker keeps the file in memory.
    static let ownFileBytes = 256 << 20

    /// The address space in bytes (`RLIMIT_AS`) for photos of at most `maxPixels` pixels, converted to this format: 2 GiB
    /// for the libraries, plus 32 bytes per pixel (AVIF 64, JPEG XL 96). In a measurement with 16 bits and alpha, AVIF
    /// needed 43 bytes per pixel and JPEG XL needed 76.
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

    /// An upper bound for the size in bytes of a file that filters make from a photo of `photo` bytes. The largest
    /// formats have 8 bytes per pixel (16 bits with alpha), and LZW compression may turn these into 12 bytes. The rest
    /// is for metadata.
    ///
    /// The files of all renditions together may have the size allowed for the largest photo that the worker accepts.
    static func fileBytes(of photo: Int, pixels: Int) -> Int { 64 << 20 + 2 * photo + 12 * min(pixels, 1 << 50) }
}
