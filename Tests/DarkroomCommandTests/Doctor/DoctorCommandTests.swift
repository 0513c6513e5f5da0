import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// `doctor` as a program, on real redis-servers.
@Suite(.serialized) struct DoctorCommandTests {
    /// The findings, keyed by the names of their checks. If findings have the same name, the last finding counts.
    private func findings(_ outcome: Program.Outcome) throws -> [String: (verdict: String, found: String)] {
        let document = try #require(try outcome.json() as? [String: Any])
        let list = try #require(document["findings"] as? [[String: Any]])
        var findings: [String: (String, String)] = [:]
        for finding in list {
            let verdict = try #require(finding["verdict"] as? String)
            #expect((finding["advice"] as? String != nil) == (verdict != "ok"), "\(finding)")
            findings[try #require(finding["check"] as? String)] = (
                verdict, try #require(finding["found"] as? String)
            )
        }
        return findings
    }

    private static let measured = [
        "Redis latency", "Redis scripts", "output writing", "DNS",
        // libheif may be too old for some photos.
        "formats to read",
    ]

    @Test func goodRedisAndGoodFolderAreNoProblem() throws {
        let redis = try RedisServer(arguments: ["--appendonly", "yes"])
        defer { redis.stop() }
        let folder = try ScratchFolder()
        let outcome = try Program.run(
            "doctor", "--redis", redis.configuration.displayName, "--output", folder.path(""), "--resolve", "localhost",
            "--json")
        #expect(outcome.status == 0, "\(outcome.standardOutput)")
        let findings = try findings(outcome)
        for check in [
            "Redis version", "Redis eviction", "Redis memory", "Redis persistence", "Redis replicas", "Redis latency",
            "Redis scripts", "clock", "output space", "output writing", "socket of run", "redis-server", "DNS",
            "formats to read", "formats to write", "transfers",
        ] {
            // Measurements are sometimes slow on a shared machine.
            let isGood = findings[check].map {
                Self.measured.contains(check) ? $0.verdict != "problem" : $0.verdict == "ok"
            }
            #expect(isGood == true, "\(check): \(String(describing: findings[check]))")
        }
        #expect(findings["Redis persistence"]?.found == "append-only file, appendfsync everysec")
        #expect(findings["formats to read"]?.found.hasSuffix(": jpeg png webp avif heic jxl tiff gif") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")).isEmpty)
    }

    @Test func badSettingsOfRedisAreFound() throws {
        let redis = try RedisServer(arguments: ["--maxmemory", "600kb", "--maxmemory-policy", "allkeys-lru"])
        defer { redis.stop() }
        let outcome = try Program.run(
            "doctor", "--redis", redis.configuration.displayName, "--resolve", "localhost", "--json")
        #expect(outcome.status == 1)
        let findings = try findings(outcome)
        #expect(findings["Redis eviction"]?.verdict == "problem")
        #expect(findings["Redis eviction"]?.found == "maxmemory-policy allkeys-lru")
        #expect(findings["Redis memory"]?.verdict == "problem")
        #expect(findings["Redis memory"]?.found == "0 B left of maxmemory 614 kB")
        #expect(findings["Redis persistence"]?.verdict == "problem")
    }

    @Test func snapshotsAloneAreAWarning() throws {
        let redis = try RedisServer(arguments: ["--save", "3600 1"])
        defer { redis.stop() }
        let outcome = try Program.run(
            "doctor", "--redis", redis.configuration.displayName, "--resolve", "localhost")
        #expect(outcome.status == 0)
        let line = try #require(outcome.lines.first { $0.hasPrefix("Redis persistence\t") })
        let cells = line.split(separator: "\t")
        #expect(cells.count == 4 && cells[1] == "warning" && cells[2].hasPrefix("snapshots only, the last 20"))
        #expect(cells[3].contains("CONFIG SET appendonly yes"))
    }

    @Test func replicaIsRefused() throws {
        let port = try RedisServer.freePort()
        let replica = try RedisServer(arguments: ["--replicaof", "127.0.0.1 \(port)"])
        defer { replica.stop() }
        let outcome = try Program.run("doctor", "--redis", replica.configuration.displayName, "--json")
        #expect(outcome.status == 1)
        let finding = try #require(try findings(outcome)["Redis replicas"])
        #expect(finding == ("problem", "this is a replica of 127.0.0.1:\(port)"))
    }

    @Test func reportsMissingPermissionsOfTheUser() throws {
        let redis = try RedisServer()
        defer { redis.stop() }
        let rights = "ACL SETUSER ann on >secret ~* +ping +info +time +select".split(separator: " ").map {
            Array($0.utf8)
        }
        _ = try RedisConnection(redis.configuration).call(RedisCommand(arguments: rights))
        let address = redis.configuration.displayName.replacingOccurrences(of: "unix://", with: "unix://ann:secret@")
        let outcome = try Program.run("doctor", "--redis", address, "--json")
        let findings = try findings(outcome)
        #expect(outcome.status == 1 && findings["Redis latency"]?.verdict == "ok")
        #expect(findings["Redis scripts"]?.verdict == "problem")
        #expect(findings["Redis scripts"]?.found.contains("NOPERM") == true)
        #expect(!outcome.standardOutput.contains("secret"))
    }

    @Test func withoutRedisTheOtherChecksRun() throws {
        let file = try ScratchFolder().write("file", "x")
        let port = try RedisServer.freePort()
        let outcome = try Program.run(
            "doctor", "--redis", "redis://:secret@127.0.0.1:\(port)", "-o", file, "--resolve", "no.such.invalid",
            "--json")
        #expect(outcome.status == 1 && !outcome.standardOutput.contains("secret"))
        let findings = try findings(outcome)
        #expect(findings["Redis"]?.verdict == "problem" && findings["Redis version"] == nil)
        #expect(findings["Redis"]?.found.contains("Connection refused") == true)
        #expect(findings["output folder"]?.verdict == "warning")  // deleted with its scratch folder
        #expect(findings["DNS"]?.verdict == "problem")
        #expect(findings["memory"] != nil && findings["transfers"]?.verdict == "ok")
    }
}
