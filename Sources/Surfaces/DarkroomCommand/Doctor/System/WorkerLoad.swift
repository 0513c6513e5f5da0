import Darkroom
import DarkroomFiles
import DarkroomImaging
import DarkroomTransfer
import DarkroomWorker

/// The concurrent work of a worker and the resources that it needs.
struct WorkerLoad {
    var filtrations: Int
    var maxDownloadBytes: Int
    var maxPixels: Int
    /// The largest number of downloaded bytes that wait for filtration.
    let maxBytesHeld: Int

    init(_ worker: PhotoWorkerConfiguration = PhotoWorkerConfiguration()) {
        filtrations = worker.filtrationSlots
        maxDownloadBytes = worker.downloadRules.maxBytes
        maxPixels = worker.maxPixels ?? DevelopOptions.standardMaxPixels
        maxBytesHeld = worker.maxWaitingBytes
        openFiles = TransferConfiguration().maxRequests + OpenFileLimit.reserved
    }

    /// The memory of the program and its libraries, in bytes.
    private static let ownBytes = 80_000_000
    /// The memory per pixel while libvips filters a photo, in bytes, measured with photos of 12 megapixels.
    private static let bytesPerPixel = 5
    private static let usualPixels = 12_000_000
    /// The memory of a connection with TLS and HTTP/2, in bytes, measured with 2,000 connections.
    private static let bytesPerConnection = 50_000

    /// The memory that the worker needs for photos of 12 megapixels, in bytes.
    var usualBytes: Int {
        Self.ownBytes + maxBytesHeld + filtrations * min(Self.usualPixels, maxPixels) * Self.bytesPerPixel
    }

    /// The memory that the worker needs if every photo has the largest allowed size, in bytes.
    var mostBytes: Int {
        Self.ownBytes + maxBytesHeld / 2 * 3 + maxDownloadBytes + filtrations * maxPixels * Self.bytesPerPixel
            + openFiles * Self.bytesPerConnection
    }

    /// The largest number of open files and sockets: one for each request, and some for other purposes.
    let openFiles: Int
}
