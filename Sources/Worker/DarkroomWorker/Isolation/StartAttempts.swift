import Foundation

/// The rules for starting a process for a photo again after a failed start. If the machine lacks processes, open files,
/// memory or disk space, another attempt may succeed, and the photo does not fail.
enum StartAttempts {
    /// The number of attempts before the photo fails. There is a second between two attempts.
    static let most = 30

    /// Waits for a second, or until `isCancelled` returns true. A cancellation does not wake this thread, so the thread
    /// polls for it.
    static func pause(unless isCancelled: () -> Bool) {
        let end = ContinuousClock.now + .seconds(1)
        while .now < end, !isCancelled() { Thread.sleep(forTimeInterval: 0.02) }
    }
}
