/// The number of photos of a batch in each state.
public struct PhotoCounts: Sendable, Equatable {
    /// The number of photos that are neither downloaded nor final.
    public package(set) var new = 0
    /// The number of photos that are downloaded and not yet filtered.
    public package(set) var downloaded = 0
    /// The number of photos that were filtered and written.
    public package(set) var filtered = 0
    /// The number of failed photos. ``BatchFacts/failures`` lists the reasons.
    public package(set) var failed = 0
    /// The number of cancelled photos.
    public package(set) var cancelled = 0

    package init() {}

    /// The number of final photos: filtered, failed or cancelled. Only a retry changes the state of these photos.
    public var final: Int { filtered + failed + cancelled }

    /// The number of filtered and failed photos.
    public var done: Int { filtered + failed }
}

/// Queued operations of a batch that cannot be claimed yet.
package struct Deferral: Sendable, Equatable {
    package var operations: Int
    /// The time at which the first deferred operation can be claimed: Redis time, in milliseconds since 1970.
    package var due: Int

    /// The longest time for which an operation is deferred: MOST_DEFERRAL of the scripts.
    package static let longest = Duration.seconds(3600)

    package init(operations: Int, due: Int) {
        self.operations = operations
        self.due = due
    }

    /// The time until the first operation can be claimed, in ms.
    package func millisecondsLeft(now: Int) -> Int { max(0, due - now) }
}

/// The facts about a batch, as they were in Redis at one point in time.
public struct BatchFacts: Sendable, Equatable {
    /// The id of the batch.
    public let id: BatchID
    /// The options with which the batch was submitted.
    public package(set) var options: BatchOptions
    /// The state of the batch.
    public package(set) var state: BatchState
    /// The current flags, priority and focus.
    public package(set) var controls = BatchControls()
    /// The reason that the caller gave for cancelling the batch; empty if there is none.
    public package(set) var cancelledReason = ""
    /// The number of the round, from 1. Each retry of the finished batch starts the next round.
    public package(set) var round = 1
    /// The batches that must finish before this batch starts, ordered by time of submission.
    public package(set) var waitsFor: [BatchID] = []
    /// The queued operations that cannot be claimed yet, because all their photos wait for their next download
    /// attempts; nil if there are none.
    package var deferral: Deferral?
    /// The number of photos fed so far. If ``sealed`` is true, this is the number of photos in the list.
    public package(set) var photos = 0
    /// The number of operations fed so far.
    public package(set) var operations = 0
    /// The number of operations that have ended.
    public package(set) var operationsEnded = 0
    /// The number of operations that are executing: claimed by workers and not ended.
    public package(set) var executing = 0
    /// True if the whole list has been fed.
    public package(set) var sealed = false
    /// The number of photos in each state.
    public package(set) var counts = PhotoCounts()
    /// The number of failed photos for each reason.
    public package(set) var failures: [FailureReason: Int] = [:]
    /// The number of bytes that were downloaded for all final photos.
    public package(set) var bytesIn = 0
    /// The number of bytes that were written for all final photos.
    public package(set) var bytesOut = 0
    /// The number of filtered photos whose gain map for high dynamic range is not in their files.
    public package(set) var lostGainMaps = 0
    /// The time at which the batch was submitted: Redis time, in milliseconds since 1970.
    package var submitted = 0
    /// The number that the batch received when it took its output folder: the Redis time in milliseconds since 1970, or
    /// a larger number (see `take_output.lua`). The batch with the largest number holds the folder.
    package var outputTaken = 0
    /// The time at which the first operation of this round was claimed; nil before the claim.
    package var started: Int?
    /// The time at which the batch finished; nil while it is unfinished.
    package var finished: Int?
    /// The total duration of all earlier rounds, in milliseconds.
    package var spent = 0
    /// The recent progress; nil if the batch has not started or has finished.
    package var pace: BatchPace?
    /// The total duration of the periods of all rounds in which photos of the batch ran, in milliseconds; nil if it was
    /// not measured.
    package var worked: Int?
    /// The total time that the feeder took for operations that it fed to an empty queue, in milliseconds.
    package var starved = 0
    /// The time of the last heartbeat of the feeder.
    package var feederSeen = 0
    /// The chained digest of the fed operations, in hexadecimal.
    package var feedDigest = ""
    /// A phrase for each damaged value in Redis, for example `photos is "-5"`. No worker runs a damaged batch.
    public private(set) var damage: [String] = []

    /// Reads the facts from a batch's hash and its `reasons`. Returns nil if the hash contains no state, which means
    /// that the batch no longer exists.
    /// - Parameters:
    ///   - id: the id of the batch.
    ///   - fields: the fields of the batch's hash.
    ///   - reasons: the number of failed photos for each reason, by the state code of the reason.
    ///   - found: a phrase for each key that has the wrong type in Redis. If there are such keys, damaged fields are
    ///     not reported.
    package init?(id: BatchID, fields: [String: String], reasons: [UInt8: String], damage found: [String] = []) {
        guard fields["state"] != nil else { return nil }
        var stored = StoredFields(fields)
        self.id = id
        state = stored.word("state") ?? .ready
        options = BatchOptions(&stored)
        controls = BatchControls(priority: options.priority, &stored)
        cancelledReason = stored.text("cancelled.reason") ?? ""
        round = stored.number("round")
        photos = stored.number("photos", in: StoredBounds.photos)
        operations = stored.number("operations", in: StoredBounds.photos)
        operationsEnded = stored.number("operations.ended", in: StoredBounds.photos)
        executing = stored.number("executing", in: StoredBounds.photos)
        _ = stored.number("operations.kept", in: StoredBounds.photos)
        sealed = stored.number("sealed", in: 0...1) == 1
        counts.downloaded = stored.number("count.downloaded", in: StoredBounds.photos)
        counts.filtered = stored.number("count.filtered", in: StoredBounds.photos)
        counts.failed = stored.number("count.failed", in: StoredBounds.photos)
        counts.cancelled = stored.number("count.cancelled", in: StoredBounds.photos)
        if cancelled {
            // Cancelling does not rewrite state codes: photos that are not final count as cancelled.
            counts.downloaded = 0
            counts.cancelled = max(0, photos - counts.filtered - counts.failed)
        }
        let unknown = photos - counts.downloaded - counts.final
        if unknown < 0 { stored.noteContradiction("its counters have \(-unknown) more photos than the batch") }
        counts.new = max(0, unknown)
        for (stateCode, count) in reasons {
            guard let reason = FailureReason(stateCode: stateCode) else { continue }
            failures[reason, default: 0] += Int(count).flatMap { StoredBounds.photos.contains($0) ? $0 : nil } ?? 0
        }
        bytesIn = stored.number("bytes.in")
        bytesOut = stored.number("bytes.out")
        lostGainMaps = stored.optionalNumber("lost.gain.maps", in: StoredBounds.photos) ?? 0
        submitted = stored.number("submitted")
        outputTaken = stored.optionalNumber("output.taken") ?? submitted
        started = stored.optionalNumber("started")
        finished = stored.optionalNumber("finished")
        spent = stored.optionalNumber("spent") ?? 0
        // No worker depends on `pace`, `worked` or `starved`, so a damaged value of these fields is not damage of the
        // batch.
        pace = stored.text("pace").flatMap(BatchPace.init)
        worked = stored.text("worked").flatMap { Int($0) }.flatMap { StoredBounds.numbers.contains($0) ? $0 : nil }
        starved =
            stored.text("starved").flatMap { Int($0) }.flatMap { StoredBounds.numbers.contains($0) ? $0 : nil } ?? 0
        feederSeen = stored.number("feeder.seen")
        feedDigest = stored.text("feed.digest") ?? ""
        damage = found.isEmpty ? stored.damage : found
    }

    package var suspended: Bool { controls.isSuspended }
    /// True if the batch is cancelled. Its photos that are not final will never run.
    public var cancelled: Bool { controls.isCancelled }
    /// True if the batch has finished and all its photos were filtered.
    public var succeeded: Bool { state == .finished && !cancelled && counts.failed == 0 }
}
