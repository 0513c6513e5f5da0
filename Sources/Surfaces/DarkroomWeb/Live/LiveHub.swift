import Darkroom
import DarkroomConcurrency
import DarkroomHTTP
import DarkroomRedis
import DarkroomStore

/// Sends the changes of batches to all pages that watch them, as server-sent events.
///
/// DESIGN. One thread reads Redis for all viewers, at most ten times a second: the facts of each watched batch once,
/// and the states of the photos that any viewer sees. Once a second, the thread also reads, for all batches together,
/// the workers that have sent a message since the last reading. Viewers that see the same photos get the same bytes. A
/// viewer that has not received its last message gets nothing; its next message contains all changes since then.
/// Therefore the load of Redis and the memory do not depend on the speed of the viewers.
///
/// Redis sends events only while there are viewers. An event makes its batch due at once; without events, executing
/// batches are due ten times a second and others once a second, so a lost event delays a change by a second at most.
final class LiveHub: Sendable {
    private struct State {
        var viewers: [String: Viewer] = [:]
        /// For each batch, the viewer that the focus of the batch follows.
        var followed: [BatchID: Viewer] = [:]
        /// Batches with events since they were last read; nil for all batches.
        var changed: Set<BatchID>? = []
        var isClosed = false

        mutating func endFollowing(_ viewer: Viewer) {
            followed[viewer.batch] = nil
            viewer.follow(false)
        }
    }

    /// The time between two readings of a batch: the shortest, and the longest without events.
    private static let shortest = Duration.milliseconds(100), longest = Duration.seconds(1)
    /// The longest time between two readings of a batch if Redis is slow.
    private static let longestPause = Duration.seconds(3)

    private let client: DarkroomClient
    private let mostViewers: Int
    private let state = Locked(State())
    private let signal = Signal()
    private let thread = Locked<OwnedThread?>(nil)
    let follower: ViewFollower

    init(_ client: DarkroomClient, mostViewers: Int) {
        self.client = client
        self.mostViewers = mostViewers
        follower = ViewFollower(client)
        thread.withLock { thread in
            thread = OwnedThread("live") { [weak self] in
                var turns = HubTurns()
                // The thread does not retain the hub between the turns, so that the hub can be released.
                while let signal = self?.signal {
                    switch self?.turn(&turns) {
                    case .end, nil: return
                    case .untilEvent: signal.wait()
                    case .atMost(let time): signal.wait(timeout: time)
                    }
                }
            }
        }
    }

    deinit { signal.raise() }

    /// Adds a viewer of a batch. Returns nil if there are too many viewers.
    func add(_ batch: BatchID, window: Range<Int>) -> Viewer? {
        let viewer = Viewer(batch, window) { [signal] in
            signal.raise()
        } onEnd: { [weak self] id in
            self?.remove(id)
        }
        let isAdded = state.withLock { state in
            guard !state.isClosed, state.viewers.count < mostViewers else { return false }
            state.viewers[viewer.id] = viewer
            return true
        }
        signal.raise()
        return isAdded ? viewer : nil
    }

    /// The viewer with this id; nil if the viewer has left.
    func viewer(_ id: String) -> Viewer? { state.withLock { $0.viewers[id] } }

    var viewerCount: Int { state.withLock { $0.viewers.count } }

    /// Sends the states of other photos to a viewer from now on.
    func move(_ viewer: Viewer, to window: Range<Int>) {
        viewer.move(to: window)
        signal.raise()
    }

    /// Lets the focus of the batch follow a viewer. If the focus has followed another viewer, tells that viewer.
    /// - Parameter photos: the photos that run first; nil if the focus no longer follows the viewer.
    func follow(_ viewer: Viewer, _ photos: ClosedRange<Int>?) {
        state.withLock { state in
            // The page may have closed its connection before this call.
            guard state.viewers[viewer.id] != nil else { return }
            let before = state.followed[viewer.batch]
            if let photos {
                if before !== viewer { before?.loseFocus() }
                state.followed[viewer.batch] = viewer
                viewer.follow(true)
                follower.follow(viewer.batch, photos)
            } else if before === viewer {
                state.endFollowing(viewer)
                follower.leave(viewer.batch)
            }
        }
        signal.raise()
    }

    /// Tells the followed viewer of a batch that somebody else has set the focus.
    /// - Parameter focus: the focus that ``ViewFollower`` had set, and that Redis no longer has.
    private func noteOtherFocus(of batch: BatchID, instead focus: ClosedRange<Int>) {
        state.withLock { state in
            guard follower.forget(batch, focus) else { return }
            state.followed.removeValue(forKey: batch)?.loseFocus()
        }
    }

    /// Ends all streams and the threads.
    func close() {
        let viewers = state.withLock { state in
            state.isClosed = true
            return Array(state.viewers.values)
        }
        for viewer in viewers { viewer.stream.finish() }
        signal.raise()
        thread.exchange(nil)?.join()
        follower.close()
    }

    private func remove(_ id: String) {
        state.withLock { state in
            guard let viewer = state.viewers.removeValue(forKey: id), state.followed[viewer.batch] === viewer else {
                return
            }
            state.endFollowing(viewer)
            follower.leave(viewer.batch)
        }
        signal.raise()
    }

    // MARK: - The thread

    /// What the thread does after a turn.
    private enum Pause {
        case untilEvent
        case atMost(Duration)
        case end
    }

    /// Reads the batches that are due and sends their changes. If Redis is unreachable, tries one batch a second, so that
    /// the time until the pages continue does not depend on the number of batches.
    private func turn(_ turns: inout HubTurns) -> Pause {
        let taken = state.withLock { state -> (viewers: [Viewer], changed: Set<BatchID>?)? in
            guard !state.isClosed else { return nil }
            defer { state.changed = [] }
            return (Array(state.viewers.values), state.changed)
        }
        guard let (viewers, changed) = taken else {
            turns.subscription?.close()
            return .end
        }
        guard !viewers.isEmpty else {
            turns = HubTurns()
            return .untilEvent
        }
        if turns.subscription == nil { turns.subscription = subscription() }
        turns.note(changed)
        turns.keep(Set(viewers.map(\.batch)))
        let batches = Dictionary(grouping: viewers, by: \.batch)
        for (batch, viewers) in batches
        where turns.isDue(batch, isMoved: viewers.contains(where: \.isDue)) {
            let began = ContinuousClock.now
            if let message = send(batch, to: viewers, &turns) {
                for viewer in batches.values.joined() { viewer.sendAway(message) }
                turns.retryAll(after: Self.longest)
                break
            }
            // A slow Redis, or many viewers, make the readings less frequent.
            let pause = min(max(Self.shortest, (.now - began) * 2), Self.longestPause)
            turns.wait(batch, pause, longest: turns.watched[batch]?.facts.state == .executing ? pause : Self.longest)
        }
        for viewer in viewers { viewer.sendHeartbeat() }
        return .atMost(turns.pause(longest: Self.longest))
    }

    private func subscription() -> RedisSubscription {
        RedisSubscription(client.location.redis, channels: [client.location.keys.eventsChannel]) { [weak self] event in
            self?.take(event)
        }
    }

    private func take(_ event: RedisSubscriptionEvent) {
        let changed: BatchID? =
            if case .message(_, let payload) = event { BatchEvent.batch(inJSON: payload) } else { nil }
        let isWatched = state.withLock { state in
            guard let changed else {
                state.changed = nil
                return true
            }
            guard state.viewers.values.contains(where: { $0.batch == changed }) else { return false }
            return state.changed?.insert(changed).inserted ?? false
        }
        if isWatched { signal.raise() }
    }

    /// Reads a batch and sends its changes.
    /// - Returns: the message about the failure if Redis cannot be used; otherwise nil.
    private func send(_ id: BatchID, to viewers: [Viewer], _ turns: inout HubTurns) -> LiveMessage? {
        do {
            // The focus is compared only if it was set before the facts are read.
            let focus = follower.appliedFocus(of: id)
            let now = try client.store.time()
            guard let facts = try client.store.facts(of: id) else {
                for viewer in viewers { viewer.end(with: LiveMessage("gone", [:])) }
                return nil
            }
            // The batch may have finished and continued since it was last read.
            if let last = turns.watched[id]?.facts, last.round != facts.round { follower.note(id, isFinished: true) }
            follower.note(id, isFinished: facts.state == .finished)
            if let focus, facts.state != .finished, facts.controls.focus?.photos != focus {
                noteOtherFocus(of: id, instead: focus)
            }
            let problems = try turns.problems(in: client.store, and: id)
            var watched = turns.watched[id] ?? WatchedBatch(facts, now: now, problems: problems)
            watched.update(facts, now: now, problems: problems)
            try watched.read(Set(viewers.map(\.window)), in: client.store)
            for viewer in viewers { viewer.send(&watched) }
            turns.watched[id] = watched
            return nil
        } catch {
            let message = LiveMessage("away", ["detail": .string(Problem(error, "watch batch \(id)").detail)])
            if error.isPassing { return message }
            // The failure concerns this batch alone, for example an unexpected reply.
            for viewer in viewers { viewer.sendAway(message) }
            return nil
        }
    }
}

/// The state of the thread of a hub between its turns.
private struct HubTurns {
    var subscription: RedisSubscription?
    var watched: [BatchID: WatchedBatch] = [:]
    /// For each batch, the time from which on it may be read again, and the time at which it must be read again.
    private var times: [BatchID: (earliest: ContinuousClock.Instant, latest: ContinuousClock.Instant)] = [:]
    private var changed: Set<BatchID> = []
    /// The problems of all watched batches, and when they were read.
    private var problems: (found: BatchProblems, of: Set<BatchID>, at: ContinuousClock.Instant)?

    /// The problems of the watched batches, at most a second old. Reads only the workers that have sent a message since
    /// the last call.
    /// - Parameter id: the id of a batch that is watched from now on.
    mutating func problems(in store: BatchStore, and id: BatchID) throws(StoreError) -> BatchProblems {
        // Many pages may be opened at the same time.
        let longest = problems?.of.contains(id) == false ? Duration.milliseconds(100) : .seconds(1)
        if let problems, .now - problems.at < longest { return problems.found }
        let ids = Set(watched.keys).union([id])
        let found = try store.problems(of: store.facts(of: ids.sorted()), now: store.time(), after: problems?.found)
        problems = (found, ids, .now)
        return found
    }

    /// - Parameter batches: nil for all batches.
    mutating func note(_ batches: Set<BatchID>?) { changed.formUnion(batches ?? Set(times.keys)) }

    /// Forgets all other batches.
    mutating func keep(_ batches: Set<BatchID>) {
        watched = watched.filter { batches.contains($0.key) }
        times = times.filter { batches.contains($0.key) }
        changed.formIntersection(batches)
    }

    /// - Parameter isMoved: whether a viewer shows other photos than before.
    mutating func isDue(_ batch: BatchID, isMoved: Bool) -> Bool {
        guard let time = times[batch] else { return true }
        if isMoved { changed.insert(batch) }
        return .now >= (changed.contains(batch) ? time.earliest : time.latest)
    }

    mutating func wait(_ batch: BatchID, _ shortest: Duration, longest: Duration) {
        changed.remove(batch)
        times[batch] = (.now + shortest, .now + max(shortest, longest))
    }

    /// Makes all batches due again after a pause, also without events.
    mutating func retryAll(after pause: Duration) {
        changed.formUnion(times.keys)
        let next = ContinuousClock.now + pause
        times = times.mapValues { _ in (next, next) }
    }

    /// The time until the next batch is due.
    func pause(longest: Duration) -> Duration {
        let next = times.map { changed.contains($0.key) ? $0.value.earliest : $0.value.latest }.min()
        return max(.milliseconds(1), min(longest, next.map { $0 - .now } ?? longest))
    }
}
