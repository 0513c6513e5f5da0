import DarkroomConcurrency
import Foundation

/// SIGINT and SIGTERM, handed to the program instead of ending it.
enum StopSignals {
    /// Signals that follow the first as soon are the same wish: a process group is told to stop by a terminal and by who
    /// runs it, or twice.
    private static let togetherWithin = Duration.milliseconds(200)

    /// Calls `handle` with 1 for the first of these signals, 2 for the second and so on, on a thread of its own. Those within
    /// 0.2 s after the first are taken for the same one.
    ///
    /// Call it before any other thread is started: they are blocked in the calling thread and all that it starts.
    static func handle(_ handle: @escaping @Sendable (_ count: Int) -> Void) {
        var count = 0
        var first = ContinuousClock.now
        receive([SIGINT, SIGTERM]) { _ in
            if count == 0 { first = .now } else if .now - first < togetherWithin { return }
            count += 1
            handle(count)
        }
    }

    /// Calls `receive` with each of these signals, on a thread of its own, which alone calls it.
    ///
    /// Call it before any other thread is started: they are blocked in the calling thread and all that it starts.
    static func receive(_ numbers: [Int32], _ receive: sending @escaping (_ signal: Int32) -> Void) {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let blocked = signals
        nonisolated(unsafe) let receive = receive  // handed over to the thread
        _ = OwnedThread("signals") {
            var signals = blocked
            var signal: Int32 = 0
            while sigwait(&signals, &signal) == 0 { receive(signal) }
        }
    }
}
