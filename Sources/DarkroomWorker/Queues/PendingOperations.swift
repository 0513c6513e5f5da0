import DarkroomConcurrency
import DarkroomTransfer
import Foundation

/// The two local queues of a worker, and what of each photo stands in them.
///
/// What begins next is the ledger's to decide: the download queue is given what can run at once, and starts all of it; what finds
/// its host busy waits in the transfer engine, and others begin in its place. The filtration queue is given twice as much as runs
/// at once. So waiting photos can be taken back, and urgent photos overtake them.
final class PendingOperations: Sendable {
    /// By run and not by photo: the same photo may begin anew, for an operation under a newer fence, while its old run ends.
    private struct InProgress {
        var downloads: [ObjectIdentifier: ImageDownloader] = [:]
        /// Whoever has the bytes of photos that are downloaded and not yet filtered.
        var providers: [ObjectIdentifier: any ImageDataProvider] = [:]
        var filtrations: [ObjectIdentifier: ImageFiltration] = [:]
    }

    private let inProgress = Locked(InProgress())
    private let downloadStarts = DispatchQueue(label: "darkroom.downloads", qos: .userInitiated)
    private let downloadQueue = OperationQueue()
    private let filtrationQueue = OperationQueue()
    private let source: any PhotoSource

    init(_ configuration: WorkerConfiguration, source: any PhotoSource) {
        self.source = source
        downloadQueue.name = "Download queue"
        // Downloaders only hand their transfers to the engine: one thread begins many, and wakes once for them.
        downloadQueue.underlyingQueue = downloadStarts
        filtrationQueue.name = "Image Filtration queue"
        filtrationQueue.qualityOfService = .utility
        // How many transfers run at once is the engine's to limit.
        downloadQueue.maxConcurrentOperationCount = Int(Int32.max)
        setFiltrations(configuration.filtrations)
    }

    /// How many filtrations run at once; what runs goes on.
    func setFiltrations(_ count: Int) { filtrationQueue.maxConcurrentOperationCount = count }

    /// Begins to get a photo's bytes.
    /// - Parameters:
    ///   - mayBegin: asked right before the download begins; after no it ends as cancelled.
    ///   - waits: told when it begins to wait for its host, or for another attempt.
    ///   - ended: what came of it, on any thread; the bytes stay here until ``takeImage(of:)``.
    func download(
        _ photo: PhotoInProgress, _ urgency: Urgency, mayBegin: @escaping @Sendable (PhotoInProgress) -> Bool,
        waits: @escaping @Sendable (PhotoInProgress) -> Void,
        ended: @escaping @Sendable (PhotoInProgress, Result<Download, TransferError>) -> Void
    ) {
        let downloader = ImageDownloader(photo, source: source, urgency: urgency, mayBegin: mayBegin, waits: waits) {
            [self] photo, result in
            inProgress.withLock { inProgress in
                let downloader = inProgress.downloads.removeValue(forKey: ObjectIdentifier(photo))
                if case .success = result { inProgress.providers[ObjectIdentifier(photo)] = downloader }
            }
            ended(photo, result)
        }
        inProgress.withLock { $0.downloads[ObjectIdentifier(photo)] = downloader }
        downloadQueue.addOperation(downloader)
    }

    /// Queues the filtration of a photo whose bytes are here; `work` is done on a thread of the filtration queue.
    func filter(
        _ queued: WorkerLedger.QueuedFiltration, work: @escaping @Sendable (WorkerLedger.QueuedFiltration) -> Void
    ) {
        let filtration = ImageFiltration(queued) { [self] queued in
            // One that was taken back may have been queued again meanwhile.
            let key = ObjectIdentifier(queued.photo)
            inProgress.withLock { if $0.filtrations[key]?.ticket == queued.ticket { $0.filtrations[key] = nil } }
            work(queued)
        }
        inProgress.withLock { $0.filtrations[ObjectIdentifier(queued.photo)] = filtration }
        filtrationQueue.addOperation(filtration)
    }

    /// Takes a photo's bytes out; nil when they were thrown away.
    func takeImage(of photo: PhotoInProgress) -> Download? {
        inProgress.withLock { $0.providers.removeValue(forKey: ObjectIdentifier(photo)) }?.takeImage()
    }

    /// Stops photos: aborts their transfers and throws their bytes away; their filters stop at the next check.
    func cancel(_ photos: [PhotoInProgress]) {
        guard !photos.isEmpty else { return }
        for photo in photos { photo.cancelled.set() }
        let (downloads, unwanted) = inProgress.withLock { inProgress in
            let keys = photos.map { ObjectIdentifier($0) }
            return (
                keys.compactMap { inProgress.downloads[$0] },
                keys.compactMap { inProgress.providers.removeValue(forKey: $0) }
            )
        }
        for downloader in downloads { downloader.cancel() }
        // Giving much memory back takes a while: when everything that was told to stop has had its turn.
        if !unwanted.isEmpty { DispatchQueue.global(qos: .background).async { withExtendedLifetime(unwanted) {} } }
    }

    /// Takes a photo back whose download has not begun.
    func withdraw(_ photo: PhotoInProgress) {
        // It may be on its way here: whoever begins it looks.
        photo.withdrawn.set()
        inProgress.withLock { $0.downloads[ObjectIdentifier(photo)] }?.withdraw()
    }

    /// Changes when it is a photo's turn, as far as it still waits.
    func reorder(_ photo: PhotoInProgress, _ urgency: Urgency) {
        let (downloader, filtration) = inProgress.withLock {
            ($0.downloads[ObjectIdentifier(photo)], $0.filtrations[ObjectIdentifier(photo)])
        }
        downloader?.reorder(urgency)
        filtration?.queuePriority = urgency.priority.ofQueue
    }
}
