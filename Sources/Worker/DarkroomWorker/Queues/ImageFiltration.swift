import DarkroomWorkerState
import Foundation

/// Filters and writes one downloaded photo.
final class ImageFiltration: Operation, @unchecked Sendable {  // immutable after `init`
    private let job: FilterJob
    private let work: @Sendable (FilterJob) -> Void

    /// - Parameter work: called even if the photo was cancelled.
    init(_ job: FilterJob, work: @escaping @Sendable (FilterJob) -> Void) {
        self.job = job
        self.work = work
        super.init()
        qualityOfService = .utility
        queuePriority = job.priority.ofQueue
    }

    var attempt: Int { job.attempt }

    override func main() { work(job) }
}
