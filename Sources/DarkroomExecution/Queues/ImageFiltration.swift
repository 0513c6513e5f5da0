import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// Filters and writes one photo, whose bytes are here.
final class ImageFiltration: Operation, @unchecked Sendable {  // nothing of it changes after `init`
    private let job: FilterJob
    private let work: @Sendable (FilterJob) -> Void

    /// - Parameters:
    ///   - job: the photo, and the priority of its batch.
    ///   - work: called even if the result is not wanted any more.
    init(_ job: FilterJob, work: @escaping @Sendable (FilterJob) -> Void) {
        self.job = job
        self.work = work
        super.init()
        qualityOfService = .utility
        queuePriority = job.priority.ofQueue
    }

    /// See ``FilterJob/attempt``.
    var attempt: Int { job.attempt }

    override func main() { work(job) }
}
