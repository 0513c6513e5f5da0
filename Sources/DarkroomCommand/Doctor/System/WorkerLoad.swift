import Darkroom
import DarkroomWorker

/// What a worker does at once, and what that takes.
struct WorkerLoad {
    var downloads: Int
    var filtrations: Int
    var maxDownloadBytes: Int
    var maxPixels: Int
    /// Bytes of downloads that wait for their filter.
    let maxBytesHeld: Int

    /// That of a worker without options.
    init() {
        let worker = WorkerConfiguration()
        downloads = worker.downloads
        filtrations = worker.filtrations
        maxDownloadBytes = worker.transfer.maxBytes
        maxPixels = worker.maxPixels
        maxBytesHeld = worker.maxBytesHeld
    }

    /// The program itself with its libraries.
    private static let ownBytes = 80_000_000
    /// A pixel while libvips works on it, measured with 12 megapixels.
    private static let bytesPerPixel = 5
    private static let usualPixels = 12_000_000

    /// Memory with photos of 12 megapixels.
    var usualBytes: Int {
        Self.ownBytes + maxBytesHeld + filtrations * min(Self.usualPixels, maxPixels) * Self.bytesPerPixel
    }

    /// Memory when every photo is as large as it may be.
    var mostBytes: Int {
        Self.ownBytes + maxBytesHeld + downloads * maxDownloadBytes + filtrations * maxPixels * Self.bytesPerPixel
    }

    /// Files and sockets: a transfer may try two addresses at once and leaves its connection open, a photo is written.
    var openFiles: Int { 100 + 4 * downloads + 2 * filtrations }
}
