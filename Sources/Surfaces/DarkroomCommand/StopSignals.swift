import DarkroomConcurrency
import Foundation

/// Receives SIGINT and SIGTERM on a thread instead of ending the process.
enum StopSignals {
    /// Signals within this time after the first signal count as the same request, because a terminal and a service
    /// manager may both send a signal to the process group.
    private static let togetherWithin = Duration.milliseconds(200)

    /// Calls `handle` on a separate thread, with 1 for the first of these signals, 2 for the second and so on. Signals
    /// within 0.2 s after the first are ignored.
    ///
    /// Must be called before any other thread starts: it blocks the signals in the calling thread and in threads that
    /// this thread starts later.
    static func handle(_ handle: @escaping @Sendable (_ count: Int) -> Void) {
        var count = 0
        var first = ContinuousClock.now
        receive([SIGINT, SIGTERM]) { _ in
            if count == 0 { first = .now } else if .now - first < togetherWithin { return }
            count += 1
            handle(count)
        }
    }

    /// Calls `receive` with each of these signals, always on the same separate thread.
    ///
    /// Must be called before any other thread starts: it blocks the signals in the calling thread and in threads that
    /// this thread starts later.
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
