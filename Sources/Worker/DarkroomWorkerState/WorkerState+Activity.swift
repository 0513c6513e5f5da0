import DarkroomModel

/// The activity of a worker for one of its local batches at one point in time.
package struct BatchActivity: Sendable {
    package let batch: BatchID
    /// The indexes of the photos that are being downloaded or filtered.
    package var running: [Int] = []
    /// The number of photos whose download waits for a connection to its host or for its next download attempt.
    package var waiting = 0
    /// The URLs of some of the waiting photos.
    package var waitingURLs: [String] = []
    /// The URLs of some of the photos that are being downloaded.
    package var downloadingURLs: [String] = []

    /// The largest number of URLs of each kind.
    private static let mostURLs = 8

    fileprivate mutating func addWaiting(_ photo: PhotoRecord) {
        waiting += 1
        if waitingURLs.count < Self.mostURLs { waitingURLs.append(photo.url) }
    }

    fileprivate mutating func addRunning(_ entry: PhotoEntry) {
        running.append(entry.task.record.index)
        guard entry.stage == .downloading || entry.stage == .requested, downloadingURLs.count < Self.mostURLs else {
            return
        }
        downloadingURLs.append(entry.task.record.url)
    }
}

extension WorkerState {
    /// The activity of each batch with photos in progress, ordered by batch.
    package var batchActivities: [BatchActivity] {
        var found: [BatchID: BatchActivity] = [:]
        for entry in photos.all where !entry.isAborting && entry.stage != .queued && entry.stage != .ready {
            let batch = entry.task.operation.batch
            var activity = found[batch] ?? BatchActivity(batch: batch)
            entry.stage == .waiting || entry.stage == .arrived
                ? activity.addWaiting(entry.task.record) : activity.addRunning(entry)
            found[batch] = activity
        }
        return found.values.sorted { $0.batch < $1.batch }
    }
}
