import Darkroom
import DarkroomRedis

/// Runs all checks of one Redis.
struct RedisExamination: Check {
    let address: RedisConfiguration
    let files: SystemFiles

    var findings: [Finding] {
        let facts: RedisFacts
        do throws(RedisError) {
            facts = try RedisFacts(of: address)
        } catch {
            let advice =
                error.code == .server
                ? "let this user run INFO, PING and TIME" : "start it there, or name another with --redis"
            return [.problem("Redis", error.description, "\(advice); \"darkroom run\" needs no other Redis")]
        }
        let information = facts.information
        let checks: [any Check] =
            [
                RedisServerCheck(name: address.displayName, information: information),
                RedisMemoryCheck(information: information),
                PersistenceCheck(information: information, settings: facts.settings),
                ReplicationCheck(information: information),
                LatencyCheck(pings: facts.pings, scripts: facts.scripts),
                ClockCheck(difference: facts.clockDifference),
            ] + (address.isLocal ? [RedisHostCheck(files: files)] : [])
        return checks.flatMap(\.findings)
    }
}

extension RedisConfiguration {
    /// Whether Redis runs on this machine, judged by its address.
    var isLocal: Bool {
        switch address {
        case .unix: true
        case .tcp(let host, _): host == "localhost" || host == "::1" || host.hasPrefix("127.")
        case .sentinels: false
        }
    }
}
