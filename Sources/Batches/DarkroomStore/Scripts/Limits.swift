extension BatchStore {
    /// Sets the number of concurrent downloads and filtrations of every worker. These limits override the options of
    /// the workers. If an argument is nil, its limit does not change.
    /// - Returns: whether a limit changed.
    package func setLimits(downloads: Int?, filtrations: Int?) -> ScriptCall<Bool> {
        limits(downloads.map(String.init) ?? "", filtrations.map(String.init) ?? "")
    }

    /// Removes the limits. Each worker uses the limits in its options again.
    /// - Returns: whether a limit changed.
    package func clearLimits() -> ScriptCall<Bool> { limits("0", "0") }

    private func limits(_ downloads: String, _ filtrations: String) -> ScriptCall<Bool> {
        call(\.limits, [downloads, filtrations]) { reply throws(StoreError) in try reply.int(1) == 1 }
    }
}
