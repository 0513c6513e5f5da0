import DarkroomText

extension Deferral {
    /// `3 operations wait for the next attempt to download, in 14 s`.
    package var text: String {
        let subject = HumanText.count(operations, of: "operation") + (operations == 1 ? " waits" : " wait")
        return "\(subject) for the next attempt to download, in \(HumanText.duration(Double(millisecondsLeft) / 1000))"
    }
}
