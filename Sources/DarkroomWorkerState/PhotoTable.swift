import DarkroomStore

struct PhotoEntry {
    enum Stage {
        /// About to be downloaded.
        case queued
        /// Its download waits for its host or for another attempt, and does not count as a running download.
        case waiting
        case downloading
        /// Its bytes are downloaded and wait for a place in the local queue of filters.
        case ready
        case filterQueued
        case filtering
        /// Its file is getting its final name: the photo cannot be stopped any more.
        case placing

        /// Whether the bytes of the photo are not downloaded yet.
        var isDownload: Bool { self == .queued || self == .waiting || self == .downloading }
    }

    let task: PhotoTask
    var stage = Stage.queued
    /// Whether an attempt of its download has begun.
    var hasBegun = false
    var isAborting = false
    var bytes = 0
    /// The attempt to filter it that counts; 0 when there is none.
    var attempt = 0
}

/// The photos that have begun and not ended, and the bytes in memory.
struct PhotoTable {
    /// A filter whose result is no longer needed.
    enum AbandonedFilter {
        /// In the local queue. It will never begin.
        case queued
        /// Runs, with the bytes of its photo, until its next check or the end of its encoder.
        case running(bytes: Int)
    }

    private(set) var entries: [PhotoTask.Key: PhotoEntry] = [:]
    /// By attempt.
    private(set) var abandoned: [Int: AbandonedFilter] = [:]
    private var lastAttempt = 0
    /// Downloaded photos in memory.
    private(set) var photosHeld = 0
    /// Their bytes.
    private(set) var bytesHeld = 0
    /// A moving average of the sizes of downloaded photos, in bytes: the expected size of a running download.
    var typicalBytes = 1 << 20

    var count: Int { entries.count }
    var all: some Collection<PhotoEntry> { entries.values }
    var abandonedCount: Int { abandoned.count }

    /// Whether a photo runs, perhaps for an operation that was claimed before.
    func contains(_ key: PhotoTask.Key) -> Bool { entries[key] != nil }

    /// The entry of a task; nil when it has ended.
    func entry(of task: PhotoTask) -> PhotoEntry? { entries[task.key].flatMap { $0.task === task ? $0 : nil } }

    /// The entry of an attempt; nil when the photo has ended or another attempt counts.
    func entry(of job: FilterJob) -> PhotoEntry? {
        entry(of: job.task).flatMap { $0.attempt == job.attempt ? $0 : nil }
    }

    /// The entry of a photo of an operation; nil when it does not run.
    func entry(of index: Int, of held: HeldOperation) -> PhotoEntry? {
        entries[PhotoTask.Key(batch: held.batch, index: index)].flatMap { $0.task.operation == held ? $0 : nil }
    }

    mutating func add(_ task: PhotoTask) { entries[task.key] = PhotoEntry(task: task) }
    mutating func remove(_ task: PhotoTask) { entries[task.key] = nil }
    mutating func update(_ task: PhotoTask, _ body: (inout PhotoEntry) -> Void) {
        guard let place = entries.index(forKey: task.key) else { return }
        body(&entries.values[place])
    }

    /// Adds a downloaded photo to the photos in memory.
    mutating func hold(_ bytes: Int, of task: PhotoTask) {
        photosHeld += 1
        bytesHeld += bytes
        typicalBytes += (bytes - typicalBytes) / 8
        update(task) { $0.bytes = bytes }
    }

    /// Records that the bytes of a photo were freed.
    mutating func drop(_ bytes: Int) {
        photosHeld -= 1
        bytesHeld -= bytes
    }

    mutating func beginAttempt(_ task: PhotoTask) -> Int {
        lastAttempt += 1
        update(task) { [lastAttempt] entry in
            entry.stage = .filterQueued
            entry.attempt = lastAttempt
        }
        return lastAttempt
    }

    /// Abandons an attempt: its result is no longer needed.
    mutating func abandon(_ entry: PhotoEntry) {
        abandoned[entry.attempt] = entry.stage == .filterQueued ? .queued : .running(bytes: entry.bytes)
    }

    mutating func endAbandoned(_ attempt: Int) {
        if case .running(let bytes) = abandoned.removeValue(forKey: attempt) { drop(bytes) }
    }

}
