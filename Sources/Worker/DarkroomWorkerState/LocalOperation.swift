import DarkroomHosts
import DarkroomModel

/// An operation of this worker, and the progress of each of its photos.
package struct LocalOperation: Sendable {
    package let held: HeldOperation
    /// The storage to which the files of the photos are written.
    let domains: Set<StorageDomain>
    let records: [PhotoRecord]
    let lease: Duration
    let operationSize: Int
    /// Whether other workers may have left manifest files of this operation.
    let hasPast: Bool
    /// Whether the lease has expired twice or more. If so, photos run one by one, to find a photo that crashes workers.
    package let isQuarantined: Bool
    /// Whether downloaded bytes stay in a folder of originals after this worker has ended.
    private let keepsOriginals: Bool
    private let redactsQueries: Bool

    /// The state code of each photo, by position: `.` for no state yet, `D`, or a final state code.
    private(set) var stateCodes: [UInt8]
    /// The manifest lines of the final photos, by position.
    private(set) var lines: [[UInt8]?]
    /// The positions of the filtered photos that lost their gain maps.
    private(set) var lostGainMaps: Set<Int> = []
    private(set) var bytesIn = 0
    private(set) var bytesOut = 0
    private(set) var failures: [(index: Int, json: [UInt8])] = []
    /// The photos that became final in this worker and are not reported yet.
    private(set) var finished: [FinishedPhoto] = []
    /// When the worker received the reply to the claim.
    var claimed = ContinuousClock.now

    /// The number of photos that `skipAll` has counted as filtered.
    private(set) var skipped = 0
    /// The number of photos in progress: started, and without an outcome yet.
    private(set) var running = 0
    /// The number of photos in progress that are downloaded and not in the image filtration queue.
    var waiting = 0
    /// The number of photos that wait for something that other photos do not compete for, such as an answer of a server.
    var idle = 0
    /// The known download attempts of the photos, by position. May contain photos that are final.
    private var retries: [Int: RetryHistory]
    /// For each photo in ``retries`` that is not in progress, the time at which a worker stopped working on the photo.
    private var untriedSince: [Int: ContinuousClock.Instant] = [:]
    /// For waiting photos, by position: the earliest time at which the wait can end.
    private var waitEnds: [Int: ContinuousClock.Instant] = [:]
    /// The time from which on workers can claim the operation after its release; nil if at once. Set only if the
    /// operation is released because all its photos wait for long.
    private(set) var due: ContinuousClock.Instant?
    private(set) var unfinished: Int
    private(set) var unbegun: Int

    /// A number that grows with every change that must be reported.
    private(set) var version = 0
    private var reportedVersion = 0
    /// The values that `version` had when the first and the latest photo became final; 0 before a photo becomes final.
    private var firstFinalVersion = 0
    private var lastFinalVersion = 0
    /// The time of the oldest unreported change that makes a report due; nil if there is none.
    private(set) var oldestNews: ContinuousClock.Instant?

    /// Whether and why the photos of this operation are held: `.outsideFocus`, `.releasing` or `.none`. Reasons that
    /// hold the whole batch are not included.
    private(set) var hold = Hold.none
    /// The positions of the photos of this operation that are in the focus of the batch; nil if the focus contains none
    /// of them.
    private(set) var focus: ClosedRange<Int>?
    /// When the operation became idle with downloaded bytes.
    var idleSince: ContinuousClock.Instant?

    /// For each photo, by position, whether it is started or final.
    private var isTaken: [Bool]
    private var next = 0  // all positions before it are taken
    private var nextFocused = 0  // all positions of the focus before it are taken

    private static let unknown = UInt8(ascii: ".")

    /// - Parameters:
    ///   - lines: the manifest lines of the photos that were final before the claim, by position.
    ///   - domains: the storage to which the files of the photos are written.
    package init(
        _ claimed: ClaimedOperation, _ options: BatchOptions, records: [PhotoRecord], lines: [[UInt8]?],
        domains: Set<StorageDomain> = []
    ) {
        held = claimed.held
        self.domains = domains
        self.records = records
        self.lines = lines
        lease = options.lease
        operationSize = options.operationSize
        keepsOriginals = !options.originals.isEmpty
        redactsQueries = options.redactURLs
        let past = claimed.retryHistories
        retries = past.histories.filter { claimed.stateCodes.indices.contains($0.key) }
        untriedSince = retries.mapValues { _ in past.released }
        // The bytes of photos that are claimed with the state `D` are in the folder of originals and need no download.
        stateCodes = claimed.stateCodes.map { code in
            let state = PhotoState(stateCode: code) ?? .new
            return state == .new ? Self.unknown : code
        }
        isTaken = claimed.stateCodes.map { PhotoState(stateCode: $0)?.isFinal == true }
        unfinished = isTaken.count { !$0 }
        unbegun = unfinished
        hasPast = claimed.leaseExpiries > 0 || unfinished < stateCodes.count
        isQuarantined = claimed.leaseExpiries >= 2
        // If the operation is done, all its photos were cancelled one by one while the operation was queued. The report
        // that ends the operation is still due.
        if isDone { noteFinal() }
    }

    /// True only if no line in the manifest file of the operation's fencing token was reported.
    var isUnreported: Bool { !hasPast && (firstFinalVersion == 0 || reportedVersion < firstFinalVersion) }
    /// Whether there are unreported changes.
    var hasNews: Bool { version > reportedVersion }
    var hasUnreportedFinals: Bool { lastFinalVersion > reportedVersion }
    /// Whether a photo has become final in this worker since the claim.
    var hasProgress: Bool { lastFinalVersion > 0 }
    var isDone: Bool { unfinished == 0 }
    /// Whether all unfinished photos wait for something that other photos do not compete for.
    var isIdling: Bool { idle > 0 && idle == unfinished }

    /// Whether no photo is running: all photos in progress are downloaded and wait for their filtration.
    var isIdle: Bool { running == waiting }

    // MARK: Photos to start

    /// The number of photos that may start now. The photos of a quarantined operation run one at a time.
    var photosToBegin: Int { isQuarantined ? min(unbegun, running == 0 ? 1 : 0) : unbegun }

    /// Whether photos in the focus have not been started.
    var hasFocusedPhotosToBegin: Bool {
        guard let focus, nextFocused <= focus.upperBound else { return false }
        return isTaken[nextFocused...focus.upperBound].contains(false)
    }

    /// Sets which photos of the batch start first, and whether all other photos are held.
    mutating func apply(_ focus: BatchControls.Focus?) {
        self.focus = positions(of: focus?.photos)
        if let lower = self.focus?.lowerBound { nextFocused = lower }
        if hold != .releasing { hold = focus?.only == true && self.focus == nil ? .outsideFocus : .none }
    }

    /// Marks the operation for release: none of its photos starts any more.
    /// - Parameter due: the time from which on another worker can claim the operation; nil if at once.
    mutating func beginRelease(until due: ContinuousClock.Instant?) {
        hold = .releasing
        self.due = due
    }

    /// The earliest time at which an unfinished photo can continue; nil if an unfinished photo does not wait, or if the
    /// end of its wait is not known.
    var waitsUntil: ContinuousClock.Instant? {
        guard isIdling else { return nil }
        var earliest: ContinuousClock.Instant?
        for position in stateCodes.indices where !isFinal(position) {
            guard let end = waitEnds[position] else { return nil }
            earliest = min(end, earliest ?? end)
        }
        return earliest
    }

    /// The URLs of the photos that are not final; empty if ``due`` is nil.
    var waitingURLs: [String] {
        due == nil ? [] : stateCodes.indices.lazy.filter { !isFinal($0) }.map { records[$0].url }
    }

    /// The known download attempts of the photos that are not final, by position.
    var openRetries: [Int: RetryHistory] { retries.filter { !isFinal($0.key) } }

    private func positions(of photos: ClosedRange<Int>?) -> ClosedRange<Int>? {
        guard let photos, let first = records.first?.index else { return nil }
        let lower = max(photos.lowerBound - first, 0)
        let upper = min(photos.upperBound - first, records.count - 1)
        return lower <= upper ? lower...upper : nil
    }

    /// Returns the position of the next photo to start. If `focused` is true, only considers photos in the focus.
    mutating func nextPhoto(focused: Bool) -> Int? {
        guard focused else {
            while next < isTaken.count, isTaken[next] { next += 1 }
            return next < isTaken.count ? next : nil
        }
        guard let focus else { return nil }
        while nextFocused <= focus.upperBound, isTaken[nextFocused] { nextFocused += 1 }
        return nextFocused <= focus.upperBound ? nextFocused : nil
    }

    mutating func begin(_ position: Int) -> PhotoTask {
        isTaken[position] = true
        unbegun -= 1
        running += 1
        if let time = untriedSince.removeValue(forKey: position) {
            retries[position] = retries[position]?.resumed(at: .now, leftAt: time)
        }
        let isStored = stateCodes[position] == PhotoState.downloaded.stateCode
        return PhotoTask(
            records[position], of: held, isStored: isStored, isQuarantined: isQuarantined,
            history: retries[position] ?? RetryHistory())
    }

    // MARK: Ends of photos

    /// Handles a photo that was cancelled or withdrawn. The photo may be started again unless it is final.
    mutating func abandon(index: Int) {
        running -= 1
        let position = position(of: index)
        guard !isFinal(position) else { return }
        isTaken[position] = false
        unbegun += 1
        if retries[position] != nil { untriedSince[position] = .now }
        waitEnds[position] = nil
        next = min(next, position)
        nextFocused = min(nextFocused, position)
        if let focus { nextFocused = max(nextFocused, focus.lowerBound) }
        guard stateCodes[position] == PhotoState.downloaded.stateCode, !keepsOriginals else { return }
        stateCodes[position] = PhotoState.new.stateCode
        noteNews()
    }

    /// Records that a photo waits for its next request.
    /// - Parameter end: the earliest time at which the wait can end; nil if it is not known.
    mutating func waits(index: Int, until end: ContinuousClock.Instant?, _ history: RetryHistory) {
        retries[position(of: index)] = history.attempts > 0 ? history : nil
        waitEnds[position(of: index)] = end
    }

    /// Records that a photo no longer waits for its next request.
    mutating func waitEnds(index: Int) { waitEnds[position(of: index)] = nil }

    /// Records that a photo is downloaded. This change alone does not make a report due.
    mutating func downloaded(index: Int) {
        let position = position(of: index)
        guard !isFinal(position) else { return }
        stateCodes[position] = PhotoState.downloaded.stateCode
        version += 1
    }

    /// Records the outcome of a photo. A photo that was cancelled while its file got its final name stays cancelled.
    mutating func finish(index: Int, _ outcome: PhotoOutcome, _ times: PhotoTimes) {
        running -= 1
        if !isFinal(position(of: index)) { record(outcome, times, at: position(of: index)) }
    }

    /// Sets the same state for every photo that is not final, without running the photos.
    package mutating func finishAll(_ state: PhotoState) {
        for (position, record) in records.enumerated() where !isFinal(position) {
            let line = ManifestLine(batch: held.batch, record: record, state: state)
            self.record(PhotoOutcome(state: state, line: line), PhotoTimes(), at: position)
        }
        takeAll()
    }

    /// Counts every photo as filtered without running it. Used to measure the queue alone.
    package mutating func skipAll() {
        stateCodes = [UInt8](repeating: PhotoState.filtered.stateCode, count: stateCodes.count)
        skipped = stateCodes.count
        unfinished = 0
        takeAll()
        noteFinal()
    }

    private mutating func takeAll() {
        isTaken = [Bool](repeating: true, count: isTaken.count)
        unbegun = 0
    }

    private mutating func record(_ outcome: PhotoOutcome, _ times: PhotoTimes, at position: Int) {
        stateCodes[position] = outcome.state.stateCode
        setLine(outcome.line, at: position)
        if outcome.lostGainMap { lostGainMaps.insert(position) }
        unfinished -= 1
        bytesIn += outcome.bytesIn
        bytesOut += outcome.bytesOut
        var times = times
        times.writeBegan = outcome.writeBegan
        finished.append(
            FinishedPhoto(
                record: records[position], position: position, state: outcome.state, bytesIn: outcome.bytesIn,
                bytesOut: outcome.bytesOut, times: times, ended: .now))
        if case .failed = outcome.state { failures.append((records[position].index, FailureText.json(outcome.line))) }
        noteFinal()
    }

    // MARK: Replies of Redis

    mutating func reported(_ report: WorkerState.Report, now: ContinuousClock.Instant) {
        reportedVersion = max(reportedVersion, report.version)
        failures.removeFirst(min(report.failures.count, failures.count))
        finished.removeFirst(min(report.finished.count, finished.count))
        oldestNews = hasNews ? now : nil
    }

    /// Merges final state codes from Redis, for example of photos that a user cancelled one by one.
    /// - Returns: the indexes of photos that became final while they were running.
    mutating func merge(_ stored: [UInt8]) -> [Int] {
        var overtaken: [Int] = []
        var isToReport = !isDone
        for (position, code) in stored.enumerated() where position < stateCodes.count {
            guard let state = PhotoState(stateCode: code), state.isFinal, stateCodes[position] != code
            else { continue }
            if !isFinal(position) {
                unfinished -= 1
                if isTaken[position] {
                    overtaken.append(records[position].index)
                } else {
                    isTaken[position] = true
                    unbegun -= 1
                }
                if state == .cancelled, records.indices.contains(position) {
                    setLine(ManifestLine(batch: held.batch, record: records[position], state: state), at: position)
                }
            }
            stateCodes[position] = code
            if state == .cancelled { isToReport = true }
        }
        // The report ends the operation, so the report is due even if there are no other changes.
        if isDone, isToReport { noteFinal() }
        return overtaken
    }

    private mutating func setLine(_ line: ManifestLine, at position: Int) {
        lines[position] = line.text(redactingQuery: redactsQueries)
    }

    private func position(of index: Int) -> Int { index - records[0].index }

    /// The state of a photo; nil if it has no state yet.
    func state(of index: Int) -> PhotoState? { PhotoState(stateCode: stateCodes[position(of: index)]) }

    private func isFinal(_ position: Int) -> Bool { PhotoState(stateCode: stateCodes[position])?.isFinal == true }

    private mutating func noteFinal() {
        noteNews()
        lastFinalVersion = version
        if firstFinalVersion == 0 { firstFinalVersion = version }
    }

    private mutating func noteNews() {
        version += 1
        if oldestNews == nil { oldestNews = .now }
    }
}
