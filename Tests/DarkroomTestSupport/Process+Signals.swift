import Foundation

extension Process {
    /// Starts the program with no signal blocked and with the default handling of SIGINT.
    ///
    /// A child inherits both from the test process. Its threads may block signals, and a shell starts background
    /// commands with SIGINT ignored.
    package func runReceivingSignals() throws {
        signal(SIGINT, SIG_DFL)
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }
}
