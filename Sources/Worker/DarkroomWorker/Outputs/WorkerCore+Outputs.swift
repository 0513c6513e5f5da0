import DarkroomLogging
import DarkroomModel
import DarkroomOutput
import DarkroomStore
import DarkroomWorkerState
import Foundation

/// Handles files that cannot be written, or that may be lost.
extension WorkerCore {
    /// Handles a file of a batch that could not be written.
    /// - Returns: true if the worker waits until the fault is gone. The photo does not count as failed, and the worker
    ///   starts no photos that would have the same fault.
    func isWaitedFor(_ failure: OutputWriter.Failure, of context: BatchContext) -> Bool {
        guard failure.reason != .diskFull || configuration.whenDiskFull == .wait else { return false }
        return blocks(failure, context)
    }

    /// Blocks a batch if the failure affects more than one file.
    /// - Returns: false if the failure affects only one file.
    func blocks(_ failure: OutputWriter.Failure, _ context: BatchContext) -> Bool {
        guard let fault = OutputFault(failure) else { return false }
        report(fault, context.id, staleFile: failure.staleFile)
        return true
    }

    /// Blocks the batch that had a storage fault, and all other batches that the fault affects.
    private func report(_ fault: OutputFault, _ id: BatchID, staleFile: String? = nil) {
        let device = fault.isOfDevice ? Self.device(of: fault.place.folder) : nil
        var others: Set<BatchID> = []
        if let device {
            let contexts = files.withLock { files in
                Dictionary(files.map { ($0.key.batch, $0.value.context) }, uniquingKeysWith: { $1 })
            }
            for context in contexts.values
            where context.output.folders.contains(where: { Self.device(of: $0) == device }) {
                others.insert(context.id)
            }
        }
        let effects = effects(of: .storageFault(id, fault, device: device, others: others, staleFile: staleFile))
        outputSignal.raise()
        for case .outageBegan(let batches) in effects {
            coordination.logger.error(
                "output cannot be written, its batches wait", key: "\(id)",
                [.batch: .text(id), "batches": .number(batches), "detail": .text(fault.detail)])
        }
    }

    /// Releases operations whose files may be lost, and does not report their photos. The photos run again and write
    /// new files.
    /// - Parameter fault: the storage fault that still prevents writing, if there is one.
    func giveUp(_ operations: [HeldOperation], _ why: String, _ fault: OutputFault? = nil) {
        guard let first = operations.first else { return }
        if let fault { report(fault, first.batch) }
        let outputs = files.withLock { $0.mapValues(\.context.output) }
        for case .removeManifest(let held) in effects(of: .filesLost(operations)) {
            if let output = outputs[held] { ManifestFiles.removeOwn(held, output) }
        }
        coordination.logger.error(
            "files may be lost, their operations run again", key: first.batch.description,
            LogMetadata(first).adding(["operations": .number(operations.count), "detail": .text(why)]))
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
        guard held.fencingToken < .max, held.number > 0, held.number <= batch.operations,
            // A worker that cannot open the folder has nothing to remove there.
            let context = try? BatchContext(held.batch, options, configuration)
        else { return }
        let first = (held.number - 1) * size
        let records = (first..<max(first, min(first + size, batch.photos))).map {
            PhotoRecord(index: $0, name: "", url: "")
        }
        let next = HeldOperation(batch: held.batch, number: held.number, fencingToken: held.fencingToken + 1)
        StaleFiles.remove(of: next, records, context.output)
    }

    /// The device number of a path's file system; nil if the path cannot be read.
    static func device(of path: String) -> UInt? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt(status.st_dev) : nil
    }
}

extension OutputFault: StorageFault {}
