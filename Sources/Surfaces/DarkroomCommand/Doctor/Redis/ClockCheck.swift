import Darkroom

/// Checks that the clocks of this machine and of Redis agree.
struct ClockCheck: Check {
    /// The clock of Redis minus the clock of this machine.
    let difference: Duration

    var findings: [Finding] {
        let check = "clock"
        let seconds = abs(difference / .seconds(1))
        guard seconds >= 1 else {
            return [.ok(check, "Redis and this machine differ by \(HumanText.duration(seconds))")]
        }
        let side = difference < .zero ? "behind" : "ahead of"
        let found = "Redis is \(HumanText.duration(seconds)) \(side) this machine"
        return [
            .warning(
                check, found,
                "leases do not depend on the clocks, but displayed times, logs and certificates do: set both with NTP")
        ]
    }
}
