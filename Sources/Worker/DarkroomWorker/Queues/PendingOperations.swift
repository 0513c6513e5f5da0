import DarkroomConcurrency
import DarkroomOrigins
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// The two operation queues of a worker, with the queued and running downloads and filtrations.
///
/// The worker state decides which photo starts next. It adds a download to the download queue only when the download
/// can start immediately. While a host is busy, its transfers wait in the transfer engine, and transfers from other
/// hosts start. The image filtration queue contains at most twice as many filtrations as run at a time. Therefore most
/// waiting photos stay in the worker state, which can withdraw them and start photos of higher priority first.
final class PendingOperations: Sendable {
    /// The keys are tasks, not photos: a photo may start again with a newer fencing token while its old task ends.
    private struct InProgress {
        var downloads: [ObjectIdentifier: ImageDownloader] = [:]
        /// Successful downloads, which keep the bytes of the photos until the filtration.
        var downloaded: [ObjectIdentifier: ImageDownloader] = [:]
        var filtrations: [ObjectIdentifier: ImageFiltration] = [:]
    }

    private let inProgress = Locked(InProgress())
    private let downloadStarts = DispatchQueue(label: "darkroom.downloads", qos: .userInitiated)
    private let downloadQueue = OperationQueue()
    private let filtrationQueue = OperationQueue()

    init(filtrations: Int) {
        downloadQueue.name = "Download queue"
        // Downloaders only pass their transfers to the engine, so one thread is enough to start many downloads.
        downloadQueue.underlyingQueue = downloadStarts
        filtrationQueue.name = "Image Filtration queue"
        filtrationQueue.qualityOfService = .utility
        // The transfer engine limits the number of concurrent transfers.
        downloadQueue.maxConcurrentOperationCount = Int(Int32.max)
        setFiltrations(filtrations)
    }

    /// Sets the number of concurrent filtrations. Does not stop running filtrations.
    func setFiltrations(_ count: Int) { filtrationQueue.maxConcurrentOperationCount = count }

    /// Begins a download. If the task is cancelled, the transfer is aborted and the bytes are freed. If the task is
    /// withdrawn, the download ends only if it is waiting; a running transfer continues.
    /// - Parameters:
    ///   - fetch: fetches the bytes.
    ///   - ended: called with the result, on any thread; the bytes stay here until ``takeImage(of:)``.
    func download(
        _ photo: RunningPhoto, _ urgency: Urgency, _ steps: TransferSteps, fetch: @escaping ImageDownloader.Fetch,
        ended: @escaping FetchCompletion
    ) {
        let task = photo.task
        let key = ObjectIdentifier(task)
        let downloader = ImageDownloader(photo, urgency: urgency, steps: steps, fetch: fetch) { [self] result in
            inProgress.withLock { inProgress in
                let downloader = inProgress.downloads.removeValue(forKey: key)
                if case .success = result { inProgress.downloaded[key] = downloader }
            }
            // If the task was cancelled during the last step of the download, nothing has freed the bytes yet.
            if task.cancellation.isCancelled { _ = takeImage(of: task) }
            ended(result)
        }
        inProgress.withLock { $0.downloads[key] = downloader }
        task.cancellation.onChange { [weak self] level in self?.cancel(key, level) }
        downloadQueue.addOperation(downloader)
    }

    /// Queues the filtration of a downloaded photo. `work` runs on a thread of the image filtration queue.
    func filter(_ job: FilterJob, work: @escaping @Sendable (FilterJob) -> Void) {
        let filtration = ImageFiltration(job) { [self] job in
            // The photo may have been withdrawn and queued again before this filtration started.
            let key = ObjectIdentifier(job.task)
            inProgress.withLock { if $0.filtrations[key]?.attempt == job.attempt { $0.filtrations[key] = nil } }
            work(job)
        }
        inProgress.withLock { $0.filtrations[ObjectIdentifier(job.task)] = filtration }
        filtrationQueue.addOperation(filtration)
    }

    /// Takes a downloaded photo and its bytes out of this queue. Returns nil if the bytes have been freed, for example
    /// because the photo was cancelled.
    func takeImage(of task: PhotoTask) -> (photo: RunningPhoto, image: Download)? {
        let downloader = inProgress.withLock { $0.downloaded.removeValue(forKey: ObjectIdentifier(task)) }
        guard let downloader, let image = downloader.takeImage() else { return nil }
        return (downloader.photo, image)
    }

    func reorder(_ task: PhotoTask, _ urgency: Urgency) {
        let (downloader, filtration) = inProgress.withLock {
            ($0.downloads[ObjectIdentifier(task)], $0.filtrations[ObjectIdentifier(task)])
        }
        downloader?.reorder(urgency)
        filtration?.queuePriority = urgency.priority.ofQueue
    }

    private func cancel(_ key: ObjectIdentifier, _ level: CancellationToken.Level) {
        let (downloader, unwanted) = inProgress.withLock { inProgress in
            (inProgress.downloads[key], level == .cancelled ? inProgress.downloaded.removeValue(forKey: key) : nil)
        }
        downloader?.stop(level)
        // Freeing a large amount of memory takes a while, and must not delay the cancellation of other photos.
        if let unwanted { DispatchQueue.global(qos: .background).async { withExtendedLifetime(unwanted) {} } }
    }
}
