extension BatchStore {
    /// Removes a worker that holds no operation from the list of workers.
    package func leave(worker: String) -> ScriptCall<Void> {
        call(\.leave, [worker]) { _ throws(StoreError) in }
    }
}
