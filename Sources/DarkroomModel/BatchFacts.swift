/// How many photos of a batch are in each state.
public struct PhotoCounts: Sendable, Equatable {
    /// Photos that are neither downloaded nor final.
    public package(set) var new = 0
    /// Photos that are downloaded and not yet filtered.
    public package(set) var downloaded = 0
    /// Photos that were filtered and written.
    public package(set) var filtered = 0
    /// Photos that failed; ``BatchFacts/failures`` has the reasons.
    public package(set) var failed = 0
    /// Photos that were cancelled.
    public package(set) var cancelled = 0

    package init() {}

    /// Filtered, failed and cancelled photos. Only a retry changes them.
    public var final: Int { filtered + failed + cancelled }

    /// Filtered and failed photos.
    public var done: Int { filtered + failed }
}

/// The facts of a batch as Redis had them at one moment.
public struct BatchFacts: Sendable, Equatable {
    /// The batch.
    public let id: BatchID
    /// The options with which the batch was submitted.
    public package(set) var options: BatchOptions
    /// The state of the batch.
    public package(set) var state: BatchState
    /// The present flags, priority and focus.
    public package(set) var controls = BatchControls()
    /// The reason that the cancelling call gave; empty if there is none.
    public package(set) var cancelledReason = ""
    /// 1, and one more with each retry after the batch had finished.
    public package(set) var round = 1
    /// The batches that must finish first, in the order of their submission.
    public package(set) var waitsFor: [BatchID] = []
    /// Photos fed so far. They are all photos of the list once ``sealed`` is true.
    public package(set) var photos = 0
    /// Operations fed so far.
    public package(set) var operations = 0
    /// Operations that have ended.
    public package(set) var operationsEnded = 0
    /// Operations that workers have claimed and not ended.
    public package(set) var executing = 0
    /// True if the whole list is fed.
    public package(set) var sealed = false
    /// Photos by state.
    public package(set) var counts = PhotoCounts()
    /// Failed photos by reason.
    public package(set) var failures: [FailureReason: Int] = [:]
    /// Downloaded bytes of photos that are final.
    public package(set) var bytesIn = 0
    /// Written bytes of photos that are final.
    public package(set) var bytesOut = 0
    /// When the batch was submitted, in ms since 1970 of the Redis clock.
    package var submitted = 0
    /// The number with which the batch took its output folder: the Redis clock in ms since 1970, or a larger number (see
    /// `take_output.lua`). The batch with the largest number has the folder.
    package var outputTaken = 0
    /// When the first operation of this round was claimed; nil before.
    package var started: Int?
    /// When the batch finished; nil before.
    package var finished: Int?
    /// The time of all earlier rounds, in ms.
    package var spent = 0
    /// The time of the feeder's last heartbeat.
    package var feederSeen = 0
    /// The chained digest of the fed operations, hexadecimal.
    package var feedDigest = ""
    /// The damaged values of the batch in Redis, one phrase each: `photos is "-5"`. No worker runs a damaged batch.
    public private(set) var damage: [String] = []

    /// The facts in a batch's hash and its `reasons`. Nil if the hash has no state, which means that the batch is gone.
    /// - Parameters:
    ///   - id: the batch.
    ///   - fields: the fields of its hash.
    ///   - reasons: the number of failed photos by the state code of the reason.
    ///   - found: damage that was found before, one phrase each.
    package init?(id: BatchID, fields: [String: String], reasons: [String: String], damage found: [String] = []) {
        guard fields["state"] != nil else { return nil }
        var stored = StoredFields(fields)
        self.id = id
        state = stored.word("state") ?? .ready
        options = BatchOptions(&stored)
        controls = BatchControls(&stored)
        cancelledReason = stored.text("cancelled.reason") ?? ""
        round = stored.number("round")
        photos = stored.number("photos", in: StoredBounds.photos)
        operations = stored.number("operations", in: StoredBounds.photos)
        operationsEnded = stored.number("operations.ended", in: StoredBounds.photos)
        executing = stored.number("executing", in: StoredBounds.photos)
        _ = stored.number("operations.kept", in: StoredBounds.photos)
        sealed = stored.isSet("sealed")
        counts.downloaded = stored.number("count.downloaded", in: StoredBounds.photos)
        counts.filtered = stored.number("count.filtered", in: StoredBounds.photos)
        counts.failed = stored.number("count.failed", in: StoredBounds.photos)
        counts.cancelled = stored.number("count.cancelled", in: StoredBounds.photos)
        if cancelled {
            // Cancelling a batch does not rewrite its state codes: photos that are not final count as cancelled.
            counts.downloaded = 0
            counts.cancelled = max(0, photos - counts.filtered - counts.failed)
        }
        let unknown = photos - counts.downloaded - counts.final
        if unknown < 0 { stored.noteContradiction("its counters have \(-unknown) more photos than the batch") }
        counts.new = max(0, unknown)
        for (stateCode, count) in reasons {
            guard let reason = stateCode.utf8.first.flatMap(FailureReason.init(stateCode:)) else { continue }
            failures[reason, default: 0] += Int(count).flatMap { StoredBounds.photos.contains($0) ? $0 : nil } ?? 0
        }
        bytesIn = stored.number("bytes.in")
        bytesOut = stored.number("bytes.out")
        submitted = stored.number("submitted")
        outputTaken = stored.optionalNumber("output.taken") ?? submitted
        started = stored.optionalNumber("started")
        finished = stored.optionalNumber("finished")
        spent = stored.optionalNumber("spent") ?? 0
        feederSeen = stored.number("feeder.seen")
        feedDigest = stored.text("feed.digest") ?? ""
        damage = found + stored.damage
    }

    package var suspended: Bool { controls.isSuspended }
    /// True if the batch is cancelled: photos that are not final will never run.
    public var cancelled: Bool { controls.isCancelled }
    /// True if the batch has finished and every photo was filtered.
    public var succeeded: Bool { state == .finished && !cancelled && counts.failed == 0 }
}
