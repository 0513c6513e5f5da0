import Darkroom
import DarkroomRedis

/// Checks which part of the queue a crash of Redis would lose.
struct PersistenceCheck: Check {
    let information: ServerInformation
    /// `appendfsync` and `save`, if CONFIG GET is allowed.
    let settings: [String: String]

    private static let check = "Redis persistence"

    var findings: [Finding] {
        [information["aof_enabled"] == "1" ? appendOnlyFile : snapshots] + failedSnapshot
    }

    private var appendOnlyFile: Finding {
        if let status = information["aof_last_write_status"], status != "ok" {
            return .problem(
                Self.check, "append-only file: the last write failed (\(status))",
                "Redis refuses every change: check its disk and its log")
        }
        if let status = information["aof_last_bgrewrite_status"], status != "ok" {
            return .warning(
                Self.check, "append-only file: the last rewrite failed (\(status))",
                "the file grows without limit: check its disk, its memory and its log")
        }
        let appendfsync = settings["appendfsync"]
        let found = "append-only file, appendfsync \(appendfsync ?? "unknown (CONFIG GET is not allowed)")"
        guard appendfsync == "no" else { return .ok(Self.check, found) }
        return .warning(
            Self.check, found,
            "a crash of the machine loses up to 30 s: set \"appendfsync everysec\", which loses 1 s at most")
    }

    private var snapshots: Finding {
        let advice = "set \"appendonly yes\" in its configuration, or now: redis-cli -u URL CONFIG SET appendonly yes"
        guard settings["save"] != "" else {
            return .problem(
                Self.check, "neither append-only file nor snapshots", "a restart of Redis loses every batch: \(advice)")
        }
        let saved = information.int("rdb_last_save_time").map { HumanText.localTime($0 * 1000) } ?? "unknown"
        return .warning(
            Self.check, "snapshots only, the last \(saved)",
            "a crash of Redis loses the changes since the last snapshot: \(advice)")
    }

    private var failedSnapshot: [Finding] {
        guard let status = information["rdb_last_bgsave_status"], status != "ok" else { return [] }
        return [
            .problem(
                "Redis snapshots", "the last snapshot failed (\(status))",
                "Redis then refuses changes (stop-writes-on-bgsave-error): check its disk, its memory and its log")
        ]
    }
}
