import DarkroomConcurrency
import DarkroomModel
import DarkroomStorage
import DarkroomWorkerState

/// A photo that runs in this worker, with the context of its batch and the sink for the results of its operation.
struct RunningPhoto: Sendable {
    let task: PhotoTask
    let context: BatchContext
    let sink: any OperationSink

    var record: PhotoRecord { task.record }
    var operation: HeldOperation { task.operation }
    var cancellation: CancellationToken { task.cancellation }
}
