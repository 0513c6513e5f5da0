import Foundation

/// SIGINT and SIGTERM, handed to the program instead of ending it.
enum StopSignals {
    /// Calls `handle` with 1 for the first of these signals, 2 for the second and so on, on a thread of its own.
    ///
    /// Call it before any other thread is started: they are blocked in the calling thread and all that it starts.
    static func handle(_ handle: @escaping @Sendable (_ count: Int) -> Void) {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let blocked = signals
        let thread = Thread {
            var signals = blocked
            var signal: Int32 = 0
            var count = 0
            while sigwait(&signals, &signal) == 0 {
                count += 1
                handle(count)
            }
        }
        thread.name = "signals"
        thread.start()
    }
}
