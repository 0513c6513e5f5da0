extension BatchStore {
    /// Makes leases expire at once, at most 100 in one call. The caller must have made sure that no worker is running.
    /// - Returns: true if more leases are left, so that the caller must call again.
    package func expireLeases() -> ScriptCall<Bool> {
        call(\.expireLeases, []) { reply throws(StoreError) in reply.status == "MORE" }
    }
}
