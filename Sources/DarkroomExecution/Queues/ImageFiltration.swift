import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// Filters and writes one downloaded photo.
final class ImageFiltration: Operation, @unchecked Sendable {  // immutable after `init`
    private let job: FilterJob
    private let work: @Sendable (FilterJob) -> Void

    /// - Parameters:
    ///   - job: the photo, and the priority of its batch.
    ///   - work: the filtration. It is called even if the photo was cancelled.
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
