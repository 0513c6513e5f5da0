import DarkroomModel
import DarkroomStore

/// An operation that this worker holds, and what it knows of each of its photos.
struct OperationInHand {
    let held: HeldOperation
    let context: BatchContext
    let records: [PhotoRecord]
    /// The folder of its batch's manifest, open since before anything of it was written; nil when nothing is.
    let folder: OpenFolder?
    /// True when others may have left manifest files of this operation behind.
    let hasPast: Bool
    /// True when two workers have died on it: its photos run one by one, so that whichever ends its process is found.
    let isSuspect: Bool
    /// Higher fences of which manifest files were there when it was claimed, see ``ManifestFiles/Past``.
    let forgottenFences: [Int]
    /// What this worker knows of each photo: `.` nothing yet, `D`, or a final letter.
    private(set) var stateCodes: [UInt8]
    private(set) var lines: [[UInt8]?]
    /// Photos that have begun and not ended.
    private(set) var running = 0
    /// Of those, the ones that are downloaded and wait for their filter outside of the local queue.
    var waiting = 0
    private(set) var unfinished: Int
    private(set) var bytesIn = 0
    private(set) var bytesOut = 0
    private(set) var failures: [(index: Int, json: [UInt8])] = []
    /// Grows with every news; what was reported up to which.
    private(set) var version = 0
    private(set) var reportedVersion = 0
    /// The versions at which a photo became final first and last; 0 before any has.
    private var firstSettledVersion = 0
    private var settledVersion = 0
    private(set) var oldestNews: ContinuousClock.Instant?
    /// How many photos are left to begin.
    private(set) var unbegun: Int
    /// The positions of the batch's focus in this operation; nil when it does not touch it.
    private(set) var focus: ClosedRange<Int>?
    /// True while only operations that touch the focus are to run, and this does not.
    var isOutsideFocus = false
    /// True once it is to be handed back, whatever comes.
    var isLeaving = false
    /// Since when it has been held with downloaded bytes and without running.
    var restsSince: ContinuousClock.Instant?

    /// By position: begun, or final.
    private var isTaken: [Bool]
    private var next = 0  // everything before it is taken
    private var nextFocused = 0  // everything of the focus before it is taken

    private static let unknown = UInt8(ascii: ".")

    /// An operation as it was claimed; `past` is what its manifest says of photos that were final before.
    init(
        _ claimed: ClaimedOperation, _ context: BatchContext, records: [PhotoRecord], past: ManifestFiles.Past,
        folder: OpenFolder? = nil
    ) {
        held = claimed.held
        self.context = context
        self.records = records
        self.folder = folder
        lines = past.lines
        forgottenFences = past.forgotten
        // A photo that is handed out as downloaded lies in the folder of originals: it is still to be filtered.
        stateCodes = claimed.stateCodes.map { stateCode in
            let state = PhotoRecordState(stateCode: stateCode) ?? .new
            return state == .new ? Self.unknown : stateCode
        }
        isTaken = claimed.stateCodes.map { PhotoRecordState(stateCode: $0)?.isFinal == true }
        unfinished = isTaken.count { !$0 }
        unbegun = unfinished
        hasPast = claimed.leaseExpiries > 0 || unfinished < stateCodes.count
        isSuspect = claimed.leaseExpiries >= 2
        // Its photos were cancelled one by one in the queue: their lines are to be written, and its end to be reported.
        if isDone { noteSettled() }
    }

    /// Whether no manifest file of its fence has lines that anybody was told of.
    var isUnreported: Bool { !hasPast && (firstSettledVersion == 0 || reportedVersion < firstSettledVersion) }
    var hasNews: Bool { version > reportedVersion }
    /// Whether a photo has become final that nobody was told of.
    var hasUnreportedFinals: Bool { settledVersion > reportedVersion }
    /// Whether a photo has become final here since the claim: the operation makes progress.
    var hasProgress: Bool { settledVersion > 0 }
    var isDone: Bool { unfinished == 0 }

    // MARK: What begins

    /// Whether its photos are to run as far as the operation itself is concerned.
    var mayRun: Bool { !isOutsideFocus && !isLeaving }

    /// Whether nothing of it runs: what has begun waits, downloaded, for its filter.
    var rests: Bool { running == waiting }

    /// How many photos may begin now: one at a time of a suspect.
    var photosToBegin: Int { isSuspect ? min(unbegun, running == 0 ? 1 : 0) : unbegun }

    /// Whether photos may begin now.
    var hasPhotosToBegin: Bool { photosToBegin > 0 }

    /// Says which photos of the batch are to begin first.
    mutating func setFocus(_ photos: ClosedRange<Int>?) {
        focus = nil
        guard let photos, let first = records.first?.index else { return }
        let lower = max(photos.lowerBound - first, 0)
        let upper = min(photos.upperBound - first, records.count - 1)
        guard lower <= upper else { return }
        focus = lower...upper
        nextFocused = lower
    }

    /// The position of the next photo to begin: one of the focus only, or the first of all.
    mutating func nextPhoto(focused: Bool) -> Int? {
        guard focused else {
            while next < isTaken.count, isTaken[next] { next += 1 }
            return next < isTaken.count ? next : nil
        }
        guard let focus else { return nil }
        while nextFocused <= focus.upperBound, isTaken[nextFocused] { nextFocused += 1 }
        return nextFocused <= focus.upperBound ? nextFocused : nil
    }

    /// Whether photos of the focus are left to begin.
    var hasFocusedPhotosToBegin: Bool {
        guard let focus, nextFocused <= focus.upperBound else { return false }
        return isTaken[nextFocused...focus.upperBound].contains(false)
    }

    /// Begins the photo at `position`.
    mutating func begin(_ position: Int) {
        isTaken[position] = true
        unbegun -= 1
        running += 1
    }

    /// Whether the photo at `position` needs no download: its bytes lie in the batch's folder of originals.
    func isStored(_ position: Int) -> Bool { stateCodes[position] == PhotoRecordState.downloaded.stateCode }

    // MARK: What becomes of photos

    /// The photo ran to no end (it was cancelled, or taken back): unless it is final it may begin again.
    mutating func abandon(index: Int) {
        running -= 1
        let position = position(of: index)
        guard !isFinal(position) else { return }
        isTaken[position] = false
        unbegun += 1
        next = min(next, position)
        nextFocused = min(nextFocused, position)
        if let focus { nextFocused = max(nextFocused, focus.lowerBound) }
        // Stored originals outlive this worker.
        guard stateCodes[position] == PhotoRecordState.downloaded.stateCode, context.options.originals.isEmpty else {
            return
        }
        stateCodes[position] = PhotoRecordState.new.stateCode
        noteNews()
    }

    mutating func downloaded(index: Int) {
        let position = position(of: index)
        guard !isFinal(position) else { return }
        stateCodes[position] = PhotoRecordState.downloaded.stateCode
        version += 1  // no news that hurries: it goes with the next report or heartbeat
    }

    mutating func finished(index: Int, _ outcome: PhotoOutcome) {
        running -= 1
        // One that was cancelled while its file was put in place stays cancelled.
        guard !isFinal(position(of: index)) else { return }
        settle(index: index, outcome)
    }

    /// Settles every photo that is not final.
    mutating func settleAll(_ state: PhotoRecordState) {
        for (position, record) in records.enumerated() where !isFinal(position) {
            settle(
                index: record.index,
                PhotoOutcome(state: state, line: ManifestLine(batch: held.batch, record: record, state: state)))
        }
        takeAll()
    }

    private mutating func settle(index: Int, _ outcome: PhotoOutcome) {
        let position = position(of: index)
        stateCodes[position] = outcome.state.stateCode
        setLine(outcome.line, at: position)
        unfinished -= 1
        bytesIn += outcome.bytesIn
        bytesOut += outcome.bytesOut
        if case .failed = outcome.state { failures.append((index, FailureText.json(outcome.line))) }
        noteSettled()
    }

    /// Everything is filtered: for an operation of which nothing is done.
    mutating func skip() {
        stateCodes = [UInt8](repeating: PhotoRecordState.filtered.stateCode, count: stateCodes.count)
        unfinished = 0
        takeAll()
        noteSettled()
    }

    private mutating func takeAll() {
        isTaken = [Bool](repeating: true, count: isTaken.count)
        unbegun = 0
    }

    // MARK: What Redis answers

    /// What was drafted as `version` has arrived.
    mutating func reported(version: Int, failures count: Int, now: ContinuousClock.Instant) {
        reportedVersion = max(reportedVersion, version)
        failures.removeFirst(min(count, failures.count))
        oldestNews = hasNews ? now : nil
    }

    /// Takes final letters as Redis has them, where they differ: photos that were cancelled one by one among them.
    /// - Returns: the indexes of photos that became final so while they run.
    mutating func adopt(_ stored: [UInt8]) -> [Int] {
        var overtaken: [Int] = []
        var isToTell = !isDone
        for (position, stateCode) in stored.enumerated() where position < stateCodes.count {
            guard let state = PhotoRecordState(stateCode: stateCode), state.isFinal, stateCodes[position] != stateCode
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
            stateCodes[position] = stateCode
            if state == .cancelled { isToTell = true }
        }
        // Who has nothing left of an operation reports it, also with nothing new of its own: that ends it.
        if isDone, isToTell { noteSettled() }
        return overtaken
    }

    private mutating func setLine(_ line: ManifestLine, at position: Int) {
        lines[position] = context.text(of: line)
    }

    private func position(of index: Int) -> Int { index - records[0].index }

    private func isFinal(_ position: Int) -> Bool { PhotoRecordState(stateCode: stateCodes[position])?.isFinal == true }

    private mutating func noteSettled() {
        noteNews()
        settledVersion = version
        if firstSettledVersion == 0 { firstSettledVersion = version }
    }

    private mutating func noteNews() {
        version += 1
        if oldestNews == nil { oldestNews = .now }
    }
}
