import DarkroomLogging
import DarkroomModel
import DarkroomStorage
import DarkroomStore
import DarkroomWorkerState
import Foundation

/// Handles files that cannot be written, or that may be lost.
extension WorkerCore {
    /// Handles a file of a batch that could not be stored.
    /// - Returns: true if the worker waits until the fault is gone. The photo does not count as failed, and the worker
    ///   starts no photos that would have the same fault.
    func isWaitedFor(_ fault: StorageFault, of context: BatchContext) -> Bool {
        guard !fault.isFull || configuration.waitsForDiskSpace else { return false }
        return blocks(fault, context.id)
    }

    /// Blocks the batch that had a storage fault, and all other batches that the fault affects.
    /// - Returns: false if the fault affects only one file.
    @discardableResult
    func blocks(_ fault: StorageFault, _ id: BatchID) -> Bool {
        guard fault.scope != .file else { return false }
        for case .outage(let number, beganFor: let batches) in effects(
            of: .storageFault(id, fault.refusal, domain: fault.domain))
        {
            outages.withLock { $0.add(fault, of: id, to: number, begins: batches != nil) }
            outputSignal.raise()
            guard let batches else { continue }
            coordination.logger.error(
                "output cannot be written, its batches wait", key: "\(id)",
                [.batch: .text(id), "batches": .number(batches), "detail": .text(fault.detail)])
        }
        return true
    }

    /// Releases operations whose files may be lost, and does not report their photos. The photos run again and write
    /// new files.
    /// - Parameters:
    ///   - fault: the cause. If other files cannot be written either, their batches wait.
    ///   - batch: the batch that had the fault.
    func giveUp(_ operations: [HeldOperation], _ fault: StorageFault, of batch: BatchID) {
        guard let first = operations.first else { return }
        blocks(fault, batch)
        let sinks = files.withLock { $0.mapValues(\.sink) }
        for case .removeManifest(let held) in effects(of: .filesLost(operations)) { sinks[held]?.discard() }
        coordination.logger.error(
            "files may be lost, their operations run again", key: batch.description,
            LogMetadata(first).adding(["operations": .number(operations.count), "detail": .text(fault.detail)]))
    }

    /// Removes temporary files that a crashed worker left in the output folder of a cancelled batch: the files of the
    /// operation `held` with its fencing token or a lower token. Temporary files of originals stay, because the URLs
    /// are no longer known. Blocks while a folder does not answer.
    func removeStaleFiles(of held: HeldOperation, _ batch: BatchFacts) {
        var options = batch.options
        options.originals = ""
        options.photosFolder = ""
        options.remoteOutput = false  // missing folders are not created
        let size = options.operationSize
        guard held.number > 0, held.number <= batch.operations,
            // A worker that cannot open the folder has nothing to remove there.
            let context = try? BatchContext(held.batch, options, configuration, hooks: hooks)
        else { return }
        let first = (held.number - 1) * size
        let records = (first..<max(first, min(first + size, batch.photos))).map {
            PhotoRecord(index: $0, name: "", url: "")
        }
        context.storage.removeRemains(of: held, records)
    }
}
