import DarkroomStorage

/// Where the results of an operation go that runs in this worker.
struct OperationFiles {
    let context: BatchContext
    let sink: any OperationSink
}
