import Foundation

/// Repeated attempts to start a process for a photo. A lack of processes, files, memory or space is a temporary state of
/// the machine, not a failure of the photo.
enum StartAttempts {
    /// How often a start is tried before the photo fails. There is a second between two attempts.
    static let most = 30

    /// Waits for a second, or until `isCancelled` returns true. A cancellation does not wake this thread, so the thread
    /// polls for it.
    static func pause(unless isCancelled: () -> Bool) {
        let end = ContinuousClock.now + .seconds(1)
        while .now < end, !isCancelled() { Thread.sleep(forTimeInterval: 0.02) }
    }
}
