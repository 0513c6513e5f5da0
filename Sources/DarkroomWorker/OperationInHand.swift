import DarkroomModel
import DarkroomStore

/// An operation that this worker holds, and what it knows of each of its photos.
struct OperationInHand {
    let held: HeldOperation
    let context: BatchContext
    let records: [PhotoRecord]
    /// True when others may have left manifest files of this operation behind.
    let hasPast: Bool
    /// What this worker knows of each photo: `.` nothing yet, `D`, or a final letter.
    private(set) var letters: [UInt8]
    private(set) var lines: [[UInt8]?]
    private(set) var running = 0
    private(set) var unfinished: Int
    private(set) var bytesIn = 0
    private(set) var bytesOut = 0
    private(set) var failures: [(index: Int, json: [UInt8])] = []
    /// Grows with every news; what was reported up to which.
    private(set) var version = 0
    private(set) var reportedVersion = 0
    private(set) var oldestNews: ContinuousClock.Instant?
    /// How many photos are left to begin.
    private(set) var unbegun: Int
    private var next = 0

    private static let unknown = UInt8(ascii: ".")

    /// An operation as it was claimed; `lines` are the manifest's lines of photos that were final before.
    init(_ claimed: ClaimedOperation, _ context: BatchContext, records: [PhotoRecord], lines: [[UInt8]?]) {
        held = claimed.held
        self.context = context
        self.records = records
        self.lines = lines
        letters = claimed.letters.map { PhotoRecordState(letter: $0)?.isFinal == true ? $0 : Self.unknown }
        unfinished = letters.count { $0 == Self.unknown }
        unbegun = unfinished
        hasPast = claimed.deaths > 0 || unfinished < letters.count
    }

    var hasNews: Bool { version > reportedVersion }
    var isDone: Bool { unfinished == 0 }

    /// The position of the next photo to begin, which is not final and for which `isFree` holds; nil when there is none.
    mutating func nextPhoto(isFree: (Int) -> Bool) -> Int? {
        while next < letters.count, letters[next] != Self.unknown { next += 1 }
        guard next < letters.count, isFree(records[next].index) else { return nil }
        defer { next += 1 }
        unbegun -= 1
        return next
    }

    /// Whether photos are left to begin.
    var hasPhotosToBegin: Bool { unbegun > 0 }

    mutating func begin() { running += 1 }

    /// The photo ran to no end (it was cancelled, or is handed back).
    mutating func abandon(index: Int) {
        running -= 1
        let position = index - records[0].index
        if letters[position] == PhotoRecordState.downloaded.letter {
            letters[position] = PhotoRecordState.new.letter
            noteNews()
        }
    }

    mutating func downloaded(index: Int) {
        letters[index - records[0].index] = PhotoRecordState.downloaded.letter
        version += 1  // no news that hurries: it goes with the next report or heartbeat
    }

    mutating func finished(index: Int, _ outcome: PhotoOutcome) {
        running -= 1
        settle(index: index, outcome)
    }

    /// Settles every photo that is not final.
    mutating func settleAll(_ state: PhotoRecordState) {
        unbegun = 0
        for (position, record) in records.enumerated() where !isFinal(position) {
            settle(
                index: record.index,
                PhotoOutcome(state: state, line: ManifestLine(batch: held.batch, record: record, state: state)))
        }
    }

    private mutating func settle(index: Int, _ outcome: PhotoOutcome) {
        let position = index - records[0].index
        letters[position] = outcome.state.letter
        var line: [UInt8] = []
        line.reserveCapacity(512)
        outcome.line.append(to: &line)
        lines[position] = line
        unfinished -= 1
        bytesIn += outcome.bytesIn
        bytesOut += outcome.bytesOut
        if case .failed = outcome.state { failures.append((index, FailureText.json(outcome.line))) }
        noteNews()
    }

    /// Everything is filtered: for an operation of which nothing is done.
    mutating func skip() {
        letters = [UInt8](repeating: PhotoRecordState.filtered.letter, count: letters.count)
        unfinished = 0
        unbegun = 0
        noteNews()
    }

    /// What was drafted as `version` has arrived.
    mutating func reported(version: Int, failures count: Int, now: ContinuousClock.Instant) {
        reportedVersion = max(reportedVersion, version)
        failures.removeFirst(min(count, failures.count))
        oldestNews = hasNews ? now : nil
    }

    /// The letters as Redis has them, where final ones differ from what was reported.
    mutating func adopt(_ stored: [UInt8]) {
        for (position, letter) in stored.enumerated() where position < letters.count {
            guard PhotoRecordState(letter: letter)?.isFinal == true, letters[position] != letter else { continue }
            if !isFinal(position) { unfinished -= 1 }
            if position >= next, letters[position] == Self.unknown { unbegun -= 1 }
            letters[position] = letter
        }
    }

    private func isFinal(_ position: Int) -> Bool { PhotoRecordState(letter: letters[position])?.isFinal == true }

    private mutating func noteNews() {
        version += 1
        if oldestNews == nil { oldestNews = .now }
    }
}
