/// How many photos of a batch are in each state.
public struct PhotoCounts: Sendable, Equatable {
    /// Neither downloaded nor final.
    public var new = 0
    /// Downloaded, not yet filtered.
    public var downloaded = 0
    /// Done.
    public var filtered = 0
    /// Failed, each for a reason.
    public var failed = 0
    /// Cancelled.
    public var cancelled = 0

    /// No photos.
    public init() {}

    /// Those that nothing but a retry moves any more.
    public var final: Int { filtered + failed + cancelled }

    /// Photos that were filtered or have failed, without cancelled photos.
    public var done: Int { filtered + failed }
}

/// What stands in Redis about a batch.
public struct BatchFacts: Sendable, Equatable {
    /// The batch.
    public let id: BatchID
    /// What its user asked for.
    public var options: BatchOptions
    /// Where it stands.
    public var state: BatchState
    /// Flags, priority and focus as they stand.
    public var controls = BatchControls()
    /// Why it was cancelled; empty when its user did, or nobody.
    public var cancelledReason = ""
    /// 1, and one more with every retry after it had finished.
    public var round = 1
    /// The batches that it still waits for, in the order of their submission.
    public var waitsFor: [BatchID] = []
    /// Photos fed so far; all, once it is sealed.
    public var photos = 0
    /// Operations fed so far.
    public var operations = 0
    /// Operations that have ended.
    public var operationsEnded = 0
    /// Operations that workers hold.
    public var executing = 0
    /// True when nothing more is fed.
    public var sealed = false
    /// Photos by state.
    public var counts = PhotoCounts()
    /// Failed photos by reason.
    public var failures: [FailureReason: Int] = [:]
    /// Bytes downloaded of photos that are final.
    public var bytesIn = 0
    /// Bytes written of photos that are final.
    public var bytesOut = 0
    /// When it was submitted, in ms since 1970 of the Redis clock.
    public var submitted = 0
    /// The number with which it took its output folder: the Redis clock in ms since 1970, or a larger number (see
    /// `take_output.lua`). The batch with the largest number has the folder.
    public var outputTaken = 0
    /// When the first operation of this round was claimed; nil before.
    public var started: Int?
    /// When it finished; nil before.
    public var finished: Int?
    /// How long the rounds before this one took, in ms.
    public var spent = 0
    /// When its feeder was last heard of.
    public var feederSeen = 0
    /// The chained digest of what was fed, hexadecimal.
    public var feedDigest = ""
    /// The damage of its hash, one phrase each: `photos is "-5"`. Workers treat a damaged batch as gone.
    public private(set) var damage: [String] = []

    /// The facts of a batch's hash and of its `reasons`; nil when the hash has no state: the batch is gone.
    /// - Parameters:
    ///   - id: the batch.
    ///   - fields: the fields of its hash.
    ///   - reasons: the photos that failed, by the letter of their reason.
    ///   - found: the damage that was found before, one phrase each.
    public init?(id: BatchID, fields: [String: String], reasons: [String: String], damage found: [String] = []) {
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
            // Nobody rewrites the letters of a cancelled batch: what is not final counts as cancelled.
            counts.downloaded = 0
            counts.cancelled = max(0, photos - counts.filtered - counts.failed)
        }
        let unknown = photos - counts.downloaded - counts.final
        if unknown < 0 { stored.noteContradiction("its counters have \(-unknown) photos more than it") }
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

    /// True while nothing of it may begin.
    public var suspended: Bool { controls.isSuspended }
    /// True when what is not final will never run.
    public var cancelled: Bool { controls.isCancelled }
    /// Whether all of it was done: what waits for its success may begin.
    public var succeeded: Bool { state == .finished && !cancelled && counts.failed == 0 }
}
