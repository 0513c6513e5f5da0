import DarkroomModel
import DarkroomStorage
import DarkroomStore
import Foundation

extension BatchController {
    package func retry(
        _ id: BatchID, reasons: [FailureReason] = [], overwrite: Bool = false
    ) throws -> RetriedPhotos {
        let seen = try takenOutput(of: id, overwrite: overwrite)
        var sum = RetriedPhotos()
        var next: Int? = 1
        let deadline = ContinuousClock.now + .seconds(30)
        while let first = next {
            switch try store.perform(
                store.retry(id, from: first, reasons: reasons, overwrite: overwrite && first == 1, above: seen))
            {
            case .retried(let photos, let notKept, let following):
                sum.photos += photos
                sum.notKept += notKept
                next = following
            case .busy:
                guard ContinuousClock.now < deadline else {
                    throw CoordinatorError(
                        .busy,
                        "batch \(id) cannot be retried while the batches that waited for it are being released; try again"
                    )
                }
                // The batches that waited for this batch become ready step by step, some of them at every heartbeat.
                // This call sends a heartbeat, because perhaps no worker is running.
                if try !store.perform(store.heartbeat(worker: nil)).hasMore { Thread.sleep(forTimeInterval: 0.02) }
            case .cancelled:
                throw CoordinatorError.cancelled(
                    id, "a cancelled batch is not retried", .submitAgainOverwriting)
            case .outputTaken(let other): throw Self.outputTaken(id, by: other)
            case .gone: throw CoordinatorError.gone(id)
            }
        }
        try awaitReplica()
        return sum
    }

    /// The number in the holder file of the batch's output folder, see ``StoragePlace/lastTaken``; 0 if the file cannot be read.
    /// - Throws: ``CoordinatorError`` if another batch has taken the folder and `overwrite` is false. Redis may have
    ///   forgotten the other batch.
    private func takenOutput(of id: BatchID, overwrite: Bool) throws -> Int {
        guard let batch = try store.facts(of: id), !batch.options.output.isEmpty else { return 0 }
        let place = StorageSchemes.place(batch.options.output)
        if !overwrite, let other = place.taker(since: batch) { throw Self.outputTaken(id, by: other) }
        return place.lastTaken
    }

    private static func outputTaken(_ id: BatchID, by other: BatchID) -> CoordinatorError {
        CoordinatorError(
            .outputTaken,
            "batch \(id) cannot be retried: batch \(other) has taken its output", .overwrite, .submitElsewhere)
    }
}
