internal import Glibc

/// The conventional metrics of a process, see
/// https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics and proc_pid_stat(5).
///
/// Child processes are not included.
package struct ProcessFigures: Sendable {
    package let cpuSeconds: Double
    package let residentBytes: Int
    package let virtualBytes: Int
    package let openFiles: Int
    package let maxOpenFiles: Int
    /// The time at which the process started, in seconds since 1970.
    package let started: Double

    /// The figures of this process. A figure that the system does not provide is 0.
    package static var current: ProcessFigures {
        var cpu = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu)
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        // The name of the program, in parentheses, may contain spaces. The next field is field 3.
        let stat = text(of: "/proc/self/stat")
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ").dropFirst()
        func field(_ number: Int) -> Int { fields.dropFirst(number - 3).first.flatMap { Int($0) } ?? 0 }
        return ProcessFigures(
            cpuSeconds: Double(cpu.tv_sec) + Double(cpu.tv_nsec) / 1e9,
            residentBytes: field(24) * sysconf(Int32(_SC_PAGESIZE)), virtualBytes: field(23), openFiles: openFileCount,
            maxOpenFiles: Int(clamping: limit.rlim_cur),
            started: Double(bootTime) + Double(field(22)) / Double(sysconf(Int32(_SC_CLK_TCK))))
    }

    /// The time at which the system started, in seconds since 1970.
    private static let bootTime: Int = {
        let line = text(of: "/proc/stat").split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Int($0.dropFirst("btime ".count)) } ?? 0
    }()

    private static var openFileCount: Int {
        guard let folder = opendir("/proc/self/fd") else { return 0 }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            if entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
        }
        return count - 1  // excluding the descriptor of `folder`
    }

    private static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
        return String(decoding: text, as: UTF8.self)
    }
}

extension MetricsText {
    /// Adds the version of the program as a label.
    package mutating func build(_ version: String) {
        gauge("darkroom_build_info", "The version of the program; the value is 1.", [.init(1, ["version": version])])
    }

    /// Adds the metrics of a process.
    package mutating func process(_ process: ProcessFigures) {
        counter(
            "process_cpu_seconds_total", "Processor time of the process in user and system mode.", process.cpuSeconds)
        gauge("process_resident_memory_bytes", "Resident memory of the process.", process.residentBytes)
        gauge("process_virtual_memory_bytes", "Virtual memory of the process.", process.virtualBytes)
        gauge("process_open_fds", "Open file descriptors of the process.", process.openFiles)
        gauge("process_max_fds", "Limit for the open file descriptors of the process.", process.maxOpenFiles)
        gauge("process_start_time_seconds", "When the process started, in seconds since 1970.", process.started)
    }
}
