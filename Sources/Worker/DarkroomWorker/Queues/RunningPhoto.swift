import DarkroomConcurrency
import DarkroomModel
import DarkroomWorkerState

/// A photo that runs in this worker, with the context of its batch.
struct RunningPhoto: Sendable {
    let task: PhotoTask
    let context: BatchContext

    var record: PhotoRecord { task.record }
    var operation: HeldOperation { task.operation }
    var cancellation: CancellationToken { task.cancellation }
}
