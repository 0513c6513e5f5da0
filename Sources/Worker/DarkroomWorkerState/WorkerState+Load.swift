import DarkroomModel

/// The numbers of photos of a batch in a worker, by their stage.
package struct BatchLoad: Sendable {
    /// The photos that wait for the first byte of an answer, and the URL of one of them.
    package var requested = (photos: 0, url: "")
    /// The photos that are about to be downloaded, whose bodies wait for room, or whose bodies arrive.
    package var downloading = 0
    /// The downloaded photos that wait for their filtration.
    package var downloaded = 0
    package var filtering = 0
    /// Whether the photos wait because of a storage fault.
    package var isStorageBlocked = false
    /// Whether all photos of the operations in this worker are final, but not all are reported.
    package var isReporting = false

    package init() {}
}

extension WorkerState {
    /// The loads of the batches with operations in this worker, excluding batches that users have suspended or
    /// cancelled.
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
            case .waiting: break  // the transfer engine knows the reason
            }
        }
        return loads
    }
}
