import Darkroom

/// The state of `watch`: the last snapshot, rates, the open question and the result of the last request.
///
/// A plain value without input or output: its methods take snapshots and keys, and return the lines of the terminal.
struct WatchModel {
    enum Action: Equatable {
        case leave
        case perform(WatchRequest)
    }

    /// The rates of one batch.
    struct Rates {
        var fed = RateMeter()
        var downloaded = RateMeter()
        var done = RateMeter()

        mutating func add(_ batch: BatchFacts, at time: ContinuousClock.Instant) {
            fed.add(batch.photos, at: time)
            downloaded.add(batch.downloads, at: time)
            done.add(batch.counts.done, at: time)
        }

        /// The rate of the batch. The rate is measured here only if an earlier version started the batch, because that
        /// version stored no recent progress.
        func perSecond(_ batch: BatchFacts, now: Int) -> Double? {
            batch.pace == nil ? done.perSecond : batch.photosPerSecond(now: now)
        }
    }

    private static let noticesStayFor = Duration.seconds(5)

    /// The address of Redis, for display.
    let redis: String
    let namespace: String
    /// The watched batch; nil for all batches.
    let watched: BatchID?
    let hasKeys: Bool
    /// The run that the user has named by its output folder; nil if that run has no private Redis.
    private let run: (batch: String, folder: String)?

    private(set) var snapshot: WatchSnapshot?
    private(set) var rates: [BatchID: Rates] = [:]
    /// The question that the next key answers, and the request to perform if this key is `y`.
    private(set) var question: (text: String, request: WatchRequest)?
    private var notice: (text: String, until: ContinuousClock.Instant)?
    private var outage: (error: String, since: ContinuousClock.Instant)?

    init(
        redis: String, namespace: String, watched: BatchID?, hasKeys: Bool,
        run: (batch: String, folder: String)? = nil
    ) {
        self.redis = redis
        self.namespace = namespace
        self.watched = watched
        self.hasKeys = hasKeys
        self.run = run
    }

    var batch: BatchFacts? { watched == nil ? nil : snapshot?.batches.first }

    var open: [BatchFacts] { snapshot?.batches.filter { $0.state != .finished } ?? [] }

    // MARK: - Input

    mutating func take(_ snapshot: WatchSnapshot, at time: ContinuousClock.Instant = .now) {
        var snapshot = snapshot
        snapshot.run = run
        self.snapshot = snapshot
        outage = nil
        var rates: [BatchID: Rates] = [:]
        for batch in snapshot.batches where batch.state != .finished || watched != nil {
            var meters = self.rates[batch.id] ?? Rates()
            meters.add(batch, at: time)
            rates[batch.id] = meters
        }
        self.rates = rates
    }

    /// Records that Redis is unreachable.
    mutating func lose(_ error: String, at time: ContinuousClock.Instant = .now) {
        outage = (error, outage?.since ?? time)
    }

    /// Sets a notice that is shown for 5 s, such as the result of a request.
    mutating func note(_ text: String, at time: ContinuousClock.Instant = .now) {
        notice = (text, time + Self.noticesStayFor)
    }

    /// Handles a key. Returns nil if the key only changes the view.
    mutating func press(_ key: Character, at time: ContinuousClock.Instant = .now) -> Action? {
        notice = nil  // the user has had time to read the notice
        if let asked = question {
            question = nil
            guard key == "y" || key == "Y" else { return nil }
            return .perform(asked.request)
        }
        switch key {
        case "q": return .leave
        case "s": return suspension(at: time)
        case "c": askToCancel(at: time)
        default: break
        }
        return nil
    }

    private mutating func suspension(at time: ContinuousClock.Instant) -> Action? {
        guard let snapshot else { return nil }
        if let batch {
            guard batch.isOpen else {
                note("the batch has finished: there is nothing to suspend", at: time)
                return nil
            }
            return .perform(batch.suspended ? .resume(batch.id) : .suspend(batch.id))
        }
        return .perform(snapshot.cluster.isSuspended ? .resume(nil) : .suspend(nil))
    }

    private mutating func askToCancel(at time: ContinuousClock.Instant) {
        let open = open.filter { !$0.cancelled }
        guard !open.isEmpty else {
            note(watched == nil ? "no batch is left" : "the batch has finished: there is nothing to cancel", at: time)
            return
        }
        let photos = HumanText.count(open.reduce(0) { $0 + $1.photos - $1.counts.final }, of: "photo")
        let what = watched == nil ? "all unfinished batches (\(HumanText.count(open.count)))" : open[0].shortName
        question = ("cancel \(what)? \(photos) not done. y/n", .cancel(watched))
    }

    // MARK: - Output

    /// The view for a terminal: at most `height` lines of at most `width` columns.
    func lines(width: Int, height: Int, at time: ContinuousClock.Instant = .now) -> [StyledLine] {
        let bottom = footer(width: width, at: time)
        let room = max(1, height - bottom.count - 1)
        var lines = body(width: width, height: room)
        lines = Array(lines.prefix(room))
        lines += Array(repeating: "", count: max(0, height - bottom.count - lines.count))
        return Array((lines + bottom).suffix(max(1, height)))
    }

    /// The lines that stay on the terminal after the view has closed.
    func finalLines(width: Int) -> [StyledLine] {
        guard let batch, let snapshot else { return [] }
        return BatchPicture(batch, snapshot, rates: rates[batch.id] ?? Rates(), width: width).summary
    }

    private func body(width: Int, height: Int) -> [StyledLine] {
        guard let snapshot else { return [StyledLine("waiting for Redis \(redis)", .dim).cut(to: width)] }
        guard watched != nil else {
            return ClusterPicture(snapshot, rates: rates, redis: redis, namespace: namespace, width: width)
                .lines(height: height)
        }
        guard let batch else { return [] }
        return BatchPicture(batch, snapshot, rates: rates[batch.id] ?? Rates(), width: width).lines(height: height)
    }

    /// The last lines of the screen: first the outage of Redis, if there is one; then a question, a notice, or the keys
    /// that the user can press.
    private func footer(width: Int, at time: ContinuousClock.Instant) -> [StyledLine] {
        var lines: [StyledLine] = []
        if let outage {
            let seconds = ((time - outage.since) / .seconds(1)).rounded(.down)
            let since = seconds < 1 ? "" : " for \(HumanText.duration(seconds))"
            lines += StyledLine.wrapped(
                "Redis cannot be used\(since), trying again; above is the last known state: \(outage.error)", .bad,
                width: width, most: 3)
        }
        if let question { return lines + StyledLine.wrapped(question.text, .bold, width: width, most: 4) }
        if let notice, time < notice.until {
            return lines + StyledLine.wrapped(notice.text, .warning, width: width, most: 4)
        }
        return lines + [StyledLine(keys.joined(separator: "   "), .dim).cut(to: width)]
    }

    private var keys: [String] {
        guard hasKeys else { return ["Ctrl-C leave"] }
        guard let snapshot else { return ["q leave"] }
        if watched != nil { return [batch?.suspended == true ? "s resume" : "s suspend", "c cancel", "q leave"] }
        return [
            snapshot.cluster.isSuspended ? "s resume all workers" : "s suspend all workers", "c cancel all", "q leave",
        ]
    }
}

extension BatchFacts {
    /// The name of the batch, or its id if it has no name.
    var shortName: String { options.name.isEmpty ? id.description : HumanText.safe(options.name) }
}
