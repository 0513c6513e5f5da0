extension Duration {
    /// The duration in milliseconds, rounded down; at most `Int.max`.
    package var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        let (product, overflow) = Int(seconds).multipliedReportingOverflow(by: 1000)
        return overflow ? .max : product + Int(attoseconds / 1_000_000_000_000_000)
    }
}
