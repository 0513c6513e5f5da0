import DarkroomLogging
import DarkroomModel
import DarkroomStore
import Foundation

/// What is done when files cannot be written, or may be lost.
extension WorkerCore {
    /// A file of a batch could not be written.
    /// - Returns: true when that is a state of its disk, which is waited for: nothing has failed then, and nothing more of
    ///   what is written there begins.
    func isWaitedFor(_ failure: OutputWriter.Failure, of context: BatchContext) -> Bool {
        guard failure.reason != .diskFull || configuration.whenDiskFull == .wait,
            let obstacle = OutputObstacle(failure)
        else { return false }
        bar(obstacle, context.id, left: failure.left)
        return true
    }

    /// Lets a batch wait for an obstacle, and with it what else meets it.
    private func bar(_ obstacle: OutputObstacle, _ id: BatchID, left: String? = nil) {
        let device = obstacle.isOfDevice ? Self.device(of: obstacle.place.folder) : nil
        var others: Set<BatchID> = []
        if let device {
            for context in withLedger({ $0.contexts })
            where context.folders.contains(where: { Self.device(of: $0) == device }) {
                others.insert(context.id)
            }
        }
        let (orders, isNews) = withLedger { $0.bar(id, and: others, by: obstacle, device: device, left: left) }
        act(on: orders)
        outputSignal.raise()
        guard isNews else { return }
        logger.error(
            "output cannot be written, its batches wait", key: "\(id)",
            [.batch: .text(id), "batches": .number(others.union([id]).count), "detail": .text(obstacle.detail)])
    }

    /// What was written for these operations may be lost: they are handed back without a report, so that their photos run again
    /// and the files are written again.
    /// - Parameter obstacle: what is to be gone before this worker begins anything there.
    func giveUp(_ operations: [HeldOperation], _ why: String, _ obstacle: OutputObstacle? = nil) {
        guard let first = operations.first else { return }
        if let obstacle { bar(obstacle, first.batch) }
        let unreported = withLedger { ledger in operations.compactMap { ledger.operations[$0] }.filter(\.isUnreported) }
        drop(operations)
        for operation in unreported { ManifestFiles.removeOwn(operation.held, operation.context) }
        withLedger { ledger in operations.forEach { ledger.giveBack($0) } }
        logger.error(
            "files may be lost, their operations run again", key: first.batch.description,
            LogMetadata(first).adding(["operations": .number(operations.count), "detail": .text(why)]))
        reportSignal.raise()
    }

    /// The number of the file system that shows a path; nil when there is nothing.
    static func device(of path: String) -> UInt? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt(status.st_dev) : nil
    }
}
