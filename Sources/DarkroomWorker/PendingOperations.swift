import DarkroomConcurrency
import DarkroomTransfer
import Foundation

/// The two local queues of a worker, and what of each photo stands in them.
final class PendingOperations: Sendable {
    /// By run and not by photo: the same photo may begin anew, for an operation under a newer fence, while its old run ends.
    private struct InProgress {
        var downloads: [ObjectIdentifier: ImageDownloader] = [:]
        var filtrations: [ObjectIdentifier: ImageFiltration] = [:]
    }

    private let inProgress = Locked(InProgress())
    private let downloadStarts = DispatchQueue(label: "darkroom.downloads", qos: .userInitiated)
    private let downloadQueue = OperationQueue()
    private let filtrationQueue = OperationQueue()
    private let engine: TransferEngine
    private let originals: Originals

    init(_ configuration: WorkerConfiguration, engine: TransferEngine, originals: Originals) {
        self.engine = engine
        self.originals = originals
        downloadQueue.name = "Download queue"
        downloadQueue.maxConcurrentOperationCount = configuration.downloads
        // Downloaders only hand their transfers to the engine: one thread begins many, and wakes once for them.
        downloadQueue.underlyingQueue = downloadStarts
        filtrationQueue.name = "Image Filtration queue"
        filtrationQueue.maxConcurrentOperationCount = configuration.filtrations
        filtrationQueue.qualityOfService = .utility
    }

    /// How many photos download, or wait for it.
    var downloadsInProgress: Int { inProgress.withLock { $0.downloads.count } }

    /// How many photos are downloaded and are filtered, or wait for it.
    var filtrationsInProgress: Int { inProgress.withLock { $0.filtrations.count - $0.downloads.count } }

    /// Begins a photo: its filtration waits for its download.
    /// - Parameters:
    ///   - downloaded: what came of the download, on the transfer engine's thread.
    ///   - filter: what to do with the bytes, on a thread of the filtration queue.
    func start(
        _ photo: PhotoInProgress,
        downloaded: @escaping @Sendable (PhotoInProgress, Result<Download, TransferError>) -> Void,
        filter: @escaping @Sendable (PhotoInProgress, Download) -> Void
    ) {
        let downloader = ImageDownloader(photo, engine: engine, originals: originals) { [self] photo, result in
            inProgress.withLock {
                $0.downloads[ObjectIdentifier(photo)] = nil
                if case .failure = result { $0.filtrations[ObjectIdentifier(photo)] = nil }
            }
            downloaded(photo, result)
        }
        let filtration = ImageFiltration(photo) { [self] photo, image in
            filter(photo, image)
            inProgress.withLock { $0.filtrations[ObjectIdentifier(photo)] = nil }
        }
        filtration.addDependency(downloader)
        inProgress.withLock {
            $0.downloads[ObjectIdentifier(photo)] = downloader
            $0.filtrations[ObjectIdentifier(photo)] = filtration
        }
        // The dependent first: a dependency that ends while its dependent is being added can be missed for ever.
        filtrationQueue.addOperation(filtration)
        downloadQueue.addOperation(downloader)
    }

    /// Stops a photo's transfer; its filter stops at its next check.
    func cancel(_ photo: PhotoInProgress) {
        photo.cancelled.set()
        inProgress.withLock { $0.downloads[ObjectIdentifier(photo)] }?.cancel()
    }
}
