import Darkroom
import DarkroomRedis
import DarkroomStore

/// Checks that Darkroom can use the product and the version of the Redis server.
struct RedisServerCheck: Check {
    let name: String
    let information: ServerInformation

    var findings: [Finding] {
        let check = "Redis version"
        guard information["redis_mode"] != "sentinel" else {
            return [
                .problem(
                    check, "\(name) is a Sentinel, which keeps no data", "name the Redis that it watches with --redis")
            ]
        }
        if let lack = RedisRequirements.versionLack(information) {
            return [.problem(check, "\(name): \(lack.found)", "\(lack.meaning): \(lack.advice)")]
        }
        // For Valkey, `redis_version` is the version of Redis with which Valkey is compatible.
        let version =
            information["valkey_version"].map { "Valkey \($0)" } ?? "Redis \(information["redis_version"] ?? "")"
        return [.ok(check, "\(version) at \(name)")]
    }
}
