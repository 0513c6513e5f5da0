import Foundation

extension Process {
    /// Starts the program with no signal blocked and with the default handling of SIGINT.
    ///
    /// A child inherits the signal mask and the handling of SIGINT from the test process. The threads of the tests may
    /// block signals, and tests that a shell has started in the background ignore SIGINT.
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
