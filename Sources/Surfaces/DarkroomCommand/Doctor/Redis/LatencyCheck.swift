import Darkroom
import DarkroomRedis

/// Checks the time that Redis takes to reply.
struct LatencyCheck: Check {
    let pings: [Duration]
    let scripts: Result<[Duration], RedisError>

    /// From this latency on, workers become slower, because a worker waits for some replies in each operation of 50
    /// photos.
    private static let slow = Duration.milliseconds(50)
    /// From this latency on, three slow replies in a row may let leases expire.
    private static let dangerous = Duration.seconds(2)

    var findings: [Finding] {
        let script: Finding =
            switch scripts {
            case .success(let durations): finding("Redis scripts", durations)
            case .failure(let error):
                .problem(
                    "Redis scripts", error.description,
                    "every change is a script: let this user run EVAL, EVALSHA and SCRIPT LOAD")
            }
        return [finding("Redis latency", pings), script]
    }

    private func finding(_ check: String, _ durations: [Duration]) -> Finding {
        let sorted = durations.sorted()
        guard let slowest = Self.percentile(99, sorted), let middle = Self.percentile(50, sorted) else {
            return .ok(check, "not measured")
        }
        let found = "p50 \(Self.text(middle)), p99 \(Self.text(slowest)) of \(durations.count)"
        let advice =
            "check for slow commands of other clients (redis-cli SLOWLOG GET), swapping, a slow disk of its append-only "
            + "file, and a slow network"
        if slowest >= Self.dangerous { return .problem(check, found, advice) }
        return slowest >= Self.slow ? .warning(check, found, advice) : .ok(check, found)
    }

    /// The percentile of the durations (nearest rank); nil if there are no durations.
    static func percentile(_ percent: Int, _ sorted: [Duration]) -> Duration? {
        sorted.isEmpty ? nil : sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
    }

    private static func text(_ duration: Duration) -> String {
        duration < .milliseconds(1)
            ? "\(Int(duration / .microseconds(1))) us" : HumanText.duration(duration / .seconds(1))
    }
}
