import Darkroom
import DarkroomWorker
import Testing

@testable import DarkroomCommand

/// System limits, read from files in the format of the kernel.
@Suite struct SystemCheckTests {
    private func load(filtrations: Int = 2) -> WorkerLoad {
        var load = WorkerLoad()
        load.filtrations = filtrations
        return load
    }

    @Test func findsTheLimitsOfAControlGroupAndItsParents() throws {
        let second = try SystemRoot([
            "/proc/self/cgroup": "0::/system.slice/darkroom.service\n",
            "/sys/fs/cgroup/system.slice/darkroom.service/memory.max": "max\n",
            "/sys/fs/cgroup/system.slice/memory.max": "1000000000\n",
            "/sys/fs/cgroup/system.slice/darkroom.service/cpu.max": "150000 100000\n",
            "/sys/fs/cgroup/system.slice/cpu.max": "max 100000\n",
        ])
        let group = ControlGroup(second.files)
        #expect(group.memoryLimit == 1_000_000_000 && group.coreQuota == 1.5)
        let first = try SystemRoot([
            "/proc/self/cgroup": "9:name=systemd:/\n4:memory:/a/b\n3:cpu,cpuacct:/\n0::/\n",
            "/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": "9223372036854771712\n",
            "/sys/fs/cgroup/memory/memory.limit_in_bytes": "500000000\n",
            "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        ])
        let old = ControlGroup(first.files)
        #expect(old.memoryLimit == 500_000_000 && old.coreQuota == 0.5)
        let none = ControlGroup(try SystemRoot([:]).files)
        #expect(none.memoryLimit == nil && none.coreQuota == nil)
    }

    @Test func comparesTheMemoryWithTheNeedsOfAWorker() throws {
        let load = load()
        func verdict(_ facts: MemoryFacts) -> Verdict? { MemoryCheck(facts: facts, load: load).findings.first?.verdict }
        #expect(verdict(MemoryFacts()) == nil)
        #expect(verdict(MemoryFacts(available: load.mostBytes)) == .ok)
        #expect(verdict(MemoryFacts(available: load.mostBytes, groupLimit: load.mostBytes - 1)) == .warning)
        #expect(verdict(MemoryFacts(available: load.usualBytes, processLimit: load.usualBytes - 1)) == .problem)
        let root = try SystemRoot(["/proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    1024 kB\n"])
        #expect(MemoryFacts(root.files, ControlGroup(root.files)).available == 1 << 20)
    }

    @Test func moreFiltrationsThanCoresIsAWarning() {
        func finding(_ filtrations: Int, quota: Double? = nil) -> Finding {
            let facts = CoreFacts(online: 8, allowed: 4, quota: quota)
            return CoresCheck(facts: facts, load: load(filtrations: filtrations)).findings[0]
        }
        #expect(finding(4) == .ok("cores", "4 of 8 may be used; 4 filtrations at once"))
        #expect(finding(5).verdict == .warning)
        #expect(finding(2, quota: 1.5).verdict == .ok)
        let quota = finding(3, quota: 1.5)
        #expect(quota.verdict == .warning && quota.advice?.hasSuffix("--filtrations 2") == true)
    }

    @Test func comparesOpenFilesWithTheRequests() {
        func finding(_ soft: Int, _ hard: Int) -> Finding {
            OpenFilesCheck(limit: (soft, hard), load: load()).findings[0]
        }
        #expect(finding(1024, 4096) == .ok("open files", "4,096, a worker uses up to 2,512"))
        #expect(finding(.max, .max).found.hasPrefix("unlimited"))
        let low = finding(128, 1024)
        #expect(low.verdict == .warning && low.advice?.contains("LimitNOFILE=") == true)
        #expect(SystemLimits.openFiles.soft > 0)
    }

    @Test func warnsOfUnconfinedHelpers() {
        let all = ConfinementCheck(facts: ConfinementFacts(filtersCalls: true, landlock: 3, hasNamespaces: true))
        #expect(
            all.findings == [
                .ok(
                    "helper processes",
                    "confined here: system calls by seccomp, files by Landlock, network by namespaces")
            ])
        let some = ConfinementCheck(facts: ConfinementFacts(filtersCalls: true, landlock: 0, hasNamespaces: false))
        #expect(some.findings.first?.found.hasSuffix("not confined: files by Landlock, network by namespaces") == true)
        #expect(some.findings.map(\.verdict) == [.ok])
        let none = ConfinementCheck(facts: ConfinementFacts(filtersCalls: false, landlock: 0, hasNamespaces: false))
        #expect(none.findings.map(\.verdict) == [.warning])
    }
}
