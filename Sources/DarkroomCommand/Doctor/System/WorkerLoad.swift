import Darkroom
import DarkroomWorker

/// The concurrent work of a worker and the resources that it needs.
struct WorkerLoad {
    var downloads: Int
    var filtrations: Int
    var maxDownloadBytes: Int
    var maxPixels: Int
    /// The most downloaded bytes that wait for their filter.
    let maxBytesHeld: Int

    /// The load of a worker without options.
    init() {
        let worker = WorkerConfiguration()
        downloads = worker.downloads
        filtrations = worker.filtrations
        maxDownloadBytes = worker.transfer.maxBytes
        maxPixels = worker.maxPixels
        maxBytesHeld = worker.maxBytesHeld
    }

    /// The bytes of the program itself with its libraries.
    private static let ownBytes = 80_000_000
    /// The bytes per pixel while libvips works, measured with photos of 12 megapixels.
    private static let bytesPerPixel = 5
    private static let usualPixels = 12_000_000

    /// The memory in bytes with photos of 12 megapixels.
    var usualBytes: Int {
        Self.ownBytes + maxBytesHeld + filtrations * min(Self.usualPixels, maxPixels) * Self.bytesPerPixel
    }

    /// The memory in bytes if every photo has the largest size that is allowed.
    var mostBytes: Int {
        Self.ownBytes + maxBytesHeld + downloads * maxDownloadBytes + filtrations * maxPixels * Self.bytesPerPixel
    }

    /// Files and sockets. A transfer may try two addresses at once and keeps its connection open; each filtration
    /// writes a file.
    var openFiles: Int { 100 + 4 * downloads + 2 * filtrations }
}
