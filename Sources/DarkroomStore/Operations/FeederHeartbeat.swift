import DarkroomModel

extension BatchStore {
    /// Notes that the feeder of a batch is running.
    /// - Returns: false if the batch is gone.
    package func feederHeartbeat(_ id: BatchID) -> ScriptCall<Bool> {
        call(StoreScripts.feederHeartbeat, [id]) { reply throws(StoreError) in reply.status == "OK" }
    }
}
