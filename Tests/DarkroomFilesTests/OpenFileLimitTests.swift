import DarkroomFiles
import Glibc
import Testing

/// Serialized, because the limit belongs to the whole process.
@Suite(.serialized)
struct OpenFileLimitTests {
    private var limit: rlimit {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return limit
    }

    private func setSoftLimit(_ files: rlim_t) {
        var changed = limit
        changed.rlim_cur = files
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &changed)
    }

    @Test func softLimitIsRaisedForConnections() {
        let before = limit
        defer { setSoftLimit(before.rlim_cur) }
        setSoftLimit(600)
        #expect(OpenFileLimit.raise(forConnections: 100) == 100)
        #expect(limit.rlim_cur == 612)
        // A higher limit stays as it is.
        #expect(OpenFileLimit.raise(forConnections: 10) == 10)
        #expect(limit.rlim_cur == 612)
    }

    @Test func connectionsAreFewerIfTheSystemAllowsNoMore() {
        let before = limit
        defer { setSoftLimit(before.rlim_cur) }
        let most = Int(before.rlim_max)
        #expect(OpenFileLimit.raise(forConnections: most) == max(most - 512, most / 2))
    }
}
