import DarkroomTransfer
import Foundation

/// Filters and writes one photo, whose bytes are here.
final class ImageFiltration: Operation, @unchecked Sendable {  // nothing of it changes after `init`
    /// Which filtration of its photo it is.
    let ticket: Int
    private let queued: WorkerLedger.QueuedFiltration
    private let work: @Sendable (WorkerLedger.QueuedFiltration) -> Void

    /// - Parameters:
    ///   - queued: the photo, and the priority of its batch.
    ///   - work: what is done; called also when it is not wanted any more.
    init(_ queued: WorkerLedger.QueuedFiltration, work: @escaping @Sendable (WorkerLedger.QueuedFiltration) -> Void) {
        ticket = queued.ticket
        self.queued = queued
        self.work = work
        super.init()
        qualityOfService = .utility
        queuePriority = queued.priority.ofQueue
    }

    override func main() { work(queued) }
}
