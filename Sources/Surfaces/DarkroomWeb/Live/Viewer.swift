import Darkroom
import DarkroomConcurrency
import DarkroomHTTP

/// A browser page that watches a batch.
final class Viewer: Sendable {
    private struct View {
        var window: Range<Int>
        var isFollowed = false
        /// The number of times that another page or program has taken the focus.
        var losses = 0
        /// Whether the viewer may need a message although its batch has not changed.
        var isDue = true
    }

    /// The data that were last sent to the page. Only the thread of the hub uses them.
    private struct Sent {
        var facts: LiveMessage?
        var window: StateWindow?
        var isFollowed = false
        var losses = 0
        var isAway = false
        var at = ContinuousClock.now
    }

    /// Proxies close connections on which nothing is sent for some time, often a minute.
    private static let longestSilence = Duration.seconds(15)

    /// 128 random bits, so that no other client can move the window.
    let id = AccessRule.newToken()
    let batch: BatchID
    let stream: ResponseStream
    private let view: Locked<View>
    private let sent = Locked(Sent())

    /// - Parameters:
    ///   - wake: called when the viewer can receive its next message after it missed one.
    ///   - onEnd: called with ``id`` when the page has closed its connection.
    init(
        _ batch: BatchID, _ window: Range<Int>, wake: @escaping @Sendable () -> Void,
        onEnd: @escaping @Sendable (String) -> Void
    ) {
        self.batch = batch
        let view = Locked(View(window: window))
        self.view = view
        stream = ResponseStream {
            if view.withLock({ $0.isDue }) { wake() }
        } onEnd: { [id] in
            onEnd(id)
        }
    }

    /// The photos that the page shows.
    var window: Range<Int> { view.withLock { $0.window } }

    func move(to window: Range<Int>) {
        view.withLock { view in
            view.window = window
            view.isDue = true
        }
    }

    /// Notes whether the focus of the batch follows this page.
    func follow(_ isFollowed: Bool) {
        view.withLock { view in
            view.isFollowed = isFollowed
            view.isDue = true
        }
    }

    /// Tells the page that the focus no longer follows it, even if the focus has followed the page only for a moment.
    func loseFocus() {
        follow(false)
        view.withLock { $0.losses += 1 }
    }

    var isDue: Bool { view.withLock { $0.isDue } && stream.isReady }

    // MARK: - On the thread of the hub

    /// Sends the changes since the last message. If the client has not received that message yet, the viewer stays due,
    /// and its next message contains all changes.
    func send(_ watched: inout WatchedBatch) {
        guard stream.isReady else { return view.withLock { $0.isDue = true } }
        let next = view.withLock { view in
            defer { view.isDue = false }
            return view
        }
        guard let window = watched.window(next.window) else { return view.withLock { $0.isDue = true } }
        let before = sent.withLock { $0 }
        var message: [UInt8] = []
        if before.facts == nil { message += LiveMessage("stream", ["id": .string(id)]).bytes }
        if before.facts != watched.message || before.isAway { message += watched.message.bytes }
        if (before.isFollowed, before.losses) != (next.isFollowed, next.losses) {
            message += LiveMessage("follow", ["following": .bool(next.isFollowed)]).bytes
        }
        message += watched.changes(from: before.window, to: window)
        let facts = watched.message
        if !message.isEmpty, stream.offer(message) {
            sent.withLock {
                $0 = Sent(facts: facts, window: window, isFollowed: next.isFollowed, losses: next.losses)
            }
        }
    }

    /// Sends a message that the batch cannot be read, unless the client knows this already.
    func sendAway(_ why: LiveMessage) {
        guard !sent.withLock({ $0.isAway }), stream.offer(why.bytes) else { return }
        sent.withLock { sent in
            sent.isAway = true
            sent.at = .now
        }
    }

    /// Sends a comment if nothing was sent for some time.
    func sendHeartbeat() {
        guard sent.withLock({ .now - $0.at >= Self.longestSilence }), stream.offer(LiveMessage.heartbeat) else {
            return
        }
        sent.withLock { $0.at = .now }
    }

    /// Sends a last message and ends the stream.
    func end(with message: LiveMessage) {
        stream.offer(message.bytes)
        stream.finish()
    }
}
