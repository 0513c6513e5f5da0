import DarkroomStorage

/// The batch context of an operation that runs in this worker, and the sink of its results.
struct OperationFiles {
    let context: BatchContext
    let sink: any OperationSink
}
