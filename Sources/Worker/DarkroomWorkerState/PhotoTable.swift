import DarkroomModel

struct PhotoEntry {
    enum Stage {
        /// The photo is about to be downloaded.
        case queued
        /// The download waits for a host name, for the turn of its host or for its next download attempt.
        case waiting
        /// The download has sent a request and waits for the first byte of the body.
        case requested
        /// The first byte has arrived, but the server must wait until there is room for the body.
        case arrived
        /// The download receives the body.
        case downloading
        /// The photo is downloaded and waits for a place in the image filtration queue.
        case ready
        case filterQueued
        case filtering
        /// The file of the photo is getting its final name. Changes by users no longer stop the photo.
        case placing

        /// Whether the photo is not downloaded yet.
        var isDownload: Bool { isWaiting || self == .queued || self == .downloading }

        /// Whether the photo waits for a host name, a connection, the first byte or room in memory.
        var isWaiting: Bool { self == .waiting || self == .requested || self == .arrived }
    }

    let task: PhotoTask
    var stage = Stage.queued
    /// Whether a download attempt of the photo has started.
    var hasBegun = false
    var isAborting = false
    /// Whether the photo waits for something that other photos do not compete for, such as an answer of a server.
    var isIdle = false
    var bytes = 0
    /// The number of bytes of its body that a running download may keep in memory.
    var reserved = 0
    /// The position of the download in the order of the first bytes, counted from 1; 0 before its first byte.
    var arrival = 0
    /// The current attempt to filter the photo; 0 if there is none.
    var attempt = 0
    var times = PhotoTimes()
}

/// The photos in progress (started, and without an outcome yet), and the number of downloaded bytes in memory.
struct PhotoTable {
    /// A filtration attempt whose result is no longer needed.
    enum AbandonedFilter {
        /// The attempt is in the image filtration queue. It never starts.
        case queued
        /// The attempt is running and uses the bytes of its photo until its next check or until its encoder ends.
        case running(bytes: Int)
    }

    private(set) var entries: [PhotoTask.Key: PhotoEntry] = [:]
    /// The abandoned filters, by the number of the attempt.
    private(set) var abandoned: [Int: AbandonedFilter] = [:]
    private var lastAttempt = 0
    /// The number of downloaded photos in memory.
    private(set) var photosHeld = 0
    /// The number of bytes of the downloaded photos in memory.
    private(set) var bytesHeld = 0
    /// The number of bytes that running downloads may keep in memory.
    private(set) var bytesReserved = 0
    /// A moving average of the sizes of downloaded photos, in bytes. It is the expected size of a requested photo.
    var typicalBytes = 256 << 10
    private var lastArrival = 0

    var count: Int { entries.count }
    var all: some Collection<PhotoEntry> { entries.values }
    var abandonedCount: Int { abandoned.count }

    /// Whether a photo is in progress, for the current or an earlier claim of its operation.
    func contains(_ key: PhotoTask.Key) -> Bool { entries[key] != nil }

    /// The entry of a task; nil if the task has ended.
    func entry(of task: PhotoTask) -> PhotoEntry? { entries[task.key].flatMap { $0.task === task ? $0 : nil } }

    /// The entry of an attempt; nil if its task has ended or the photo has a later attempt.
    func entry(of job: FilterJob) -> PhotoEntry? {
        entry(of: job.task).flatMap { $0.attempt == job.attempt ? $0 : nil }
    }

    /// The entry of a photo of an operation; nil if the photo is not in progress.
    func entry(of index: Int, of held: HeldOperation) -> PhotoEntry? {
        entries[PhotoTask.Key(batch: held.batch, index: index)].flatMap { $0.task.operation == held ? $0 : nil }
    }

    mutating func add(_ task: PhotoTask) { entries[task.key] = PhotoEntry(task: task) }
    mutating func remove(_ task: PhotoTask) {
        reserve(0, for: task)
        entries[task.key] = nil
    }
    mutating func update(_ task: PhotoTask, _ body: (inout PhotoEntry) -> Void) {
        guard let place = entries.index(forKey: task.key) else { return }
        body(&entries.values[place])
    }

    /// Sets the number of bytes that a running download may keep in memory.
    mutating func reserve(_ bytes: Int, for task: PhotoTask) {
        guard let place = entries.index(forKey: task.key) else { return }
        bytesReserved += bytes - entries.values[place].reserved
        entries.values[place].reserved = bytes
        guard bytes > 0, entries.values[place].arrival == 0 else { return }
        lastArrival += 1
        entries.values[place].arrival = lastArrival
    }

    /// Whether no other running download received its first byte before this one.
    func isOldestDownload(_ entry: PhotoEntry) -> Bool {
        entries.values.allSatisfy { $0.reserved == 0 || $0.arrival >= entry.arrival }
    }

    /// Adds a downloaded photo to the counts of photos and bytes in memory.
    mutating func hold(_ bytes: Int, of task: PhotoTask) {
        reserve(0, for: task)
        photosHeld += 1
        bytesHeld += bytes
        typicalBytes += (bytes - typicalBytes) / 16
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

    /// Abandons an attempt, since its result is no longer needed.
    mutating func abandon(_ entry: PhotoEntry) {
        abandoned[entry.attempt] = entry.stage == .filterQueued ? .queued : .running(bytes: entry.bytes)
    }

    mutating func endAbandoned(_ attempt: Int) {
        if case .running(let bytes) = abandoned.removeValue(forKey: attempt) { drop(bytes) }
    }

}
