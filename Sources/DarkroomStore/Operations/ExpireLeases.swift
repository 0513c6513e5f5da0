extension BatchStore {
    /// Makes every lease expire, for a caller that knows that no worker runs; at most 100 leases a call.
    /// - Returns: true if there are more: call again.
    package func expireLeases() -> ScriptCall<Bool> {
        call(StoreScripts.expireLeases, []) { reply throws(StoreError) in reply.status == "MORE" }
    }
}
