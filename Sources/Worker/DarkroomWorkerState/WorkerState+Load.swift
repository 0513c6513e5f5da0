import DarkroomModel

/// The photos of a batch in a worker, by what they do.
package struct BatchLoad: Sendable {
    /// The photos that wait for the first byte of an answer, and the URL of one of them.
    package var requested = (photos: 0, url: "")
    /// The photos whose bodies arrive, or wait for a place among the downloads.
    package var downloading = 0
    /// The downloaded photos that wait for their filtration.
    package var downloaded = 0
    package var filtering = 0
    /// Whether the worker waits for a folder of the batch.
    package var isStorageBlocked = false
    /// Whether all photos of the operations in this worker are final, but not all are reported.
    package var isReporting = false

    package init() {}
}

extension WorkerState {
    /// The loads of the batches of which this worker has operations, without those that users have suspended or cancelled.
    package var batchLoads: [BatchID: BatchLoad] {
        var loads: [BatchID: BatchLoad] = [:]
        for (id, batch) in batches where batch.hold == .none || batch.hold == .storageUnavailable {
            var load = BatchLoad()
            load.isStorageBlocked = batch.hold == .storageUnavailable
            load.isReporting = batch.begun == 0 && batch.unbegun == 0 && !batch.operations.isEmpty
            loads[id] = load
        }
        for entry in photos.all where !entry.isAborting {
            switch entry.stage {
            case .requested:
                loads[entry.task.operation.batch]?.requested.photos += 1
                loads[entry.task.operation.batch]?.requested.url = entry.task.record.url
            case .queued, .arrived, .downloading: loads[entry.task.operation.batch]?.downloading += 1
            case .ready, .filterQueued: loads[entry.task.operation.batch]?.downloaded += 1
            case .filtering, .placing: loads[entry.task.operation.batch]?.filtering += 1
            case .waiting: break  // the transfer engine knows for what it waits
            }
        }
        return loads
    }
}
