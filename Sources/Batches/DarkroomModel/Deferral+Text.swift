import DarkroomText

extension Deferral {
    /// The deferral as text: `3 operations wait for the next attempt to download, in 14 s`.
    package func text(now: Int) -> String {
        let subject = HumanText.count(operations, of: "operation") + (operations == 1 ? " waits" : " wait")
        let left = HumanText.duration(Double(millisecondsLeft(now: now)) / 1000)
        return "\(subject) for the next attempt to download, in \(left)"
    }
}
