/// The limits of a command for one photo.
package struct CommandLimits: Sendable {
    /// The address space of each process in bytes (`RLIMIT_AS`).
    package var memory = 2 << 30
    /// The CPU time. In the style `process`, the limit applies to each process and to the sum of all processes. In the
    /// style `stream`, the limit applies to the program of the command.
    package var processorTime: Duration = .seconds(60)
    /// The elapsed time.
    package var time: Duration = .seconds(120)
    /// The size of the result in bytes. The worker keeps the result in memory.
    var resultBytes = HelperLimits.ownFileBytes
    /// The number of open files of each process (`RLIMIT_NOFILE`).
    package var openFiles = 1024

    package init() {}
}
