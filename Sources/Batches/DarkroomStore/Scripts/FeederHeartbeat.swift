import DarkroomModel

extension BatchStore {
    /// Records that the feeder of a batch is running.
    /// - Returns: false if there is no such batch.
    package func feederHeartbeat(_ id: BatchID) -> ScriptCall<Bool> {
        call(\.feederHeartbeat, [id]) { reply throws(StoreError) in reply.status == "OK" }
    }
}
