import DarkroomModel
import DarkroomOutput
import DarkroomStore

extension StaleFiles {
    /// Removes the temporary files that a lost worker has left of an operation of a cancelled batch. The fencing token
    /// in their names is that of `held` or lower. Temporary files of originals stay, because the URLs are no longer
    /// known. Blocks while a folder does not answer.
    static func remove(ofCancelled held: HeldOperation, _ batch: BatchFacts, _ configuration: WorkerConfiguration) {
        var options = batch.options
        options.originals = ""
        options.photosFolder = ""
        options.remoteOutput = false  // missing folders are not created
        let size = options.operationSize
        guard held.fencingToken < .max, held.number > 0, held.number <= batch.operations,
            // If the worker cannot open the folder, it has nothing to remove.
            let context = try? BatchContext(held.batch, options, configuration)
        else { return }
        let first = (held.number - 1) * size
        let records = (first..<max(first, min(first + size, batch.photos))).map {
            PhotoRecord(index: $0, name: "", url: "")
        }
        remove(
            of: HeldOperation(batch: held.batch, number: held.number, fencingToken: held.fencingToken + 1), records,
            context.output)
    }
}
