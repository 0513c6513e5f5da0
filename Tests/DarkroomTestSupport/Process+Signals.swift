import Foundation

extension Process {
    /// Starts the program such that signals end it that a thread of the tests may block, or that the tests may have been started to ignore:
    /// a child inherits both. A shell has what it runs in the background ignore SIGINT.
    public func runReceivingSignals() throws {
        signal(SIGINT, SIG_DFL)
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }
}
