import Darkroom
import DarkroomRedis
import Testing

@testable import DarkroomCommand

/// Findings for rare settings and states of a Redis server.
@Suite struct RedisCheckTests {
    private func information(_ fields: String...) -> ServerInformation {
        ServerInformation("# Section\r\n" + fields.joined(separator: "\r\n"))
    }

    @Test func versionAndKindOfServer() {
        func finding(_ fields: String...) -> Finding {
            RedisServerCheck(name: "r", information: ServerInformation(fields.joined(separator: "\n"))).findings[0]
        }
        #expect(finding("redis_version:7.0.15") == .ok("Redis version", "Redis 7.0.15 at r"))
        #expect(finding("redis_version:7.2.4", "valkey_version:8.1.0") == .ok("Redis version", "Valkey 8.1.0 at r"))
        #expect(finding("redis_version:6.2.14").verdict == .problem)
        #expect(finding("redis_version:7.0.15", "redis_mode:sentinel").found == "r is a Sentinel, which keeps no data")
    }

    @Test(arguments: [
        ("noeviction", Verdict.ok), ("volatile-lru", .warning), ("allkeys-lfu", .problem),
    ])
    func eviction(_ policy: String, _ verdict: Verdict) {
        let check = RedisMemoryCheck(information: information("maxmemory_policy:\(policy)"))
        #expect(check.findings[0].verdict == verdict)
    }

    @Test(arguments: [
        (0, 1_000_000, 8_000_000_000, Verdict.ok), (0, 6_000_000_000, 8_000_000_000, .warning),
        (1_000_000_000, 900_000_000, 0, .ok), (1_000_000_000, 950_000_000, 0, .warning),
        (1_000_000_000, 1_000_000_000, 0, .problem),
    ])
    func memory(_ limit: Int, _ used: Int, _ system: Int, _ verdict: Verdict) {
        let information = information("maxmemory:\(limit)", "used_memory:\(used)", "total_system_memory:\(system)")
        #expect(RedisMemoryCheck(information: information).findings[1].verdict == verdict)
    }

    @Test(arguments: [
        (["aof_enabled:1"], "everysec", [Verdict.ok]), (["aof_enabled:1"], "no", [.warning]),
        (["aof_enabled:1", "aof_last_write_status:err"], "always", [.problem]),
        (["aof_enabled:1", "aof_last_bgrewrite_status:err"], "always", [.warning]),
        (["aof_enabled:1", "rdb_last_bgsave_status:err"], "always", [.ok, .problem]),
        (["aof_enabled:0", "rdb_last_save_time:1795251901"], "always", [.warning]),
    ])
    func persistence(_ fields: [String], _ appendfsync: String, _ verdicts: [Verdict]) {
        let information = ServerInformation(fields.joined(separator: "\n"))
        let check = PersistenceCheck(information: information, settings: ["appendfsync": appendfsync])
        #expect(check.findings.map(\.verdict) == verdicts)
    }

    @Test func replicas() {
        func finding(_ replicas: String...) -> Finding {
            let fields = replicas.enumerated().map { "slave\($0):ip=10.0.0.\($0),port=6379,\($1)" }
            let text = (["role:master", "connected_slaves:\(replicas.count)"] + fields).joined(separator: "\n")
            return ReplicationCheck(information: ServerInformation(text)).findings[0]
        }
        #expect(finding() == .ok("Redis replicas", "none"))
        #expect(finding("state=online,lag=0", "state=online,lag=1") == .ok("Redis replicas", "2 online"))
        let late = finding("state=online,lag=0", "state=online,lag=11")
        #expect(late.verdict == .warning && late.found == "1 of 2 behind: 10.0.0.1:6379 is online, lag 11 s")
        #expect(finding("state=wait_bgsave,lag=0").verdict == .warning)
    }

    @Test(arguments: [(10, Verdict.ok), (49_999, .ok), (50_000, .warning), (2_000_000, .problem)])
    func latency(_ slowest: Int, _ verdict: Verdict) {
        let pings = Array(repeating: Duration.microseconds(10), count: 98) + [.microseconds(slowest), .seconds(9)]
        let check = LatencyCheck(pings: pings, scripts: .success([]))
        #expect(check.findings.map(\.verdict) == [verdict, .ok])
        #expect(check.findings[0].found.hasPrefix("p50 10 us, p99 "))
    }

    @Test func clock() {
        #expect(ClockCheck(difference: .milliseconds(-999)).findings[0].verdict == .ok)
        let finding = ClockCheck(difference: .seconds(-90)).findings[0]
        #expect(finding.verdict == .warning && finding.found == "Redis is 1m 30s behind this machine")
        #expect(ClockCheck(difference: .seconds(2)).findings[0].found == "Redis is 2.0 s ahead of this machine")
    }

    @Test func kernelSettingsForALocalRedis() throws {
        let root = try SystemRoot([
            "/proc/sys/vm/overcommit_memory": "0\n",
            "/sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n",
        ])
        #expect(RedisHostCheck(files: root.files).findings.map(\.verdict) == [.warning, .warning])
        let good = try SystemRoot([
            "/proc/sys/vm/overcommit_memory": "1\n",
            "/sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
        ])
        #expect(RedisHostCheck(files: good.files).findings.map(\.found) == ["1", "madvise"])
        #expect(RedisHostCheck(files: try SystemRoot([:]).files).findings.isEmpty)
    }
}
