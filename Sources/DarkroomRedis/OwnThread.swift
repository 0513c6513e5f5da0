import Foundation

/// A thread whose end can be waited for.
final class OwnThread: @unchecked Sendable {  // `thread` is started in `init` and from then on only compared
    private let thread: Thread
    private let ended = DispatchGroup()

    /// Starts the thread.
    init(name: String, _ body: @escaping @Sendable () -> Void) {
        let ended = ended
        ended.enter()
        thread = Thread {
            body()
            ended.leave()
        }
        thread.name = name
        thread.start()
    }

    /// Whether the caller runs on it.
    var isCurrent: Bool { Thread.current === thread }

    /// Waits for its end, unless the caller runs on it.
    func join() {
        if !isCurrent { ended.wait() }
    }
}
