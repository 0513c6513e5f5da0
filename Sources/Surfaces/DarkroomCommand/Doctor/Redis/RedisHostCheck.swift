/// Checks kernel settings that slow down or break a Redis server on this machine.
struct RedisHostCheck: Check {
    let files: SystemFiles

    var findings: [Finding] { [overcommit, hugePages].compactMap { $0 } }

    /// https://redis.io/docs/latest/operate/oss_and_stack/management/admin/
    private var overcommit: Finding? {
        let check = "vm.overcommit_memory"
        guard let value = files.line("/proc/sys/vm/overcommit_memory") else { return nil }
        guard value != "1" else { return .ok(check, value) }
        return .warning(
            check, value,
            "snapshots and rewrites of a large Redis may fail for lack of memory: sysctl vm.overcommit_memory=1, and in "
                + "/etc/sysctl.d to keep it")
    }

    private var hugePages: Finding? {
        let check = "transparent huge pages"
        guard let line = files.line("/sys/kernel/mm/transparent_hugepage/enabled"),
            let start = line.firstIndex(of: "["), let end = line.firstIndex(of: "]")
        else { return nil }
        let value = String(line[line.index(after: start)..<end])
        guard value == "always" else { return .ok(check, value) }
        return .warning(
            check, value,
            "Redis becomes slow and large while it saves: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")
    }
}
