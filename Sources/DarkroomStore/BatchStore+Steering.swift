import DarkroomModel
import DarkroomRedis

/// The calls that change what holds for a batch or for the cluster while it runs. Repeating one does no harm.
extension BatchStore {
    /// Cancels a batch: nothing of it is handed out any more, what is not final counts as cancelled.
    /// - Parameter id: The batch.
    /// - Parameter reason: why, for people; empty when its user wished it.
    public func cancel(_ id: BatchID, reason: String = "") -> ScriptCall<CancelReply> {
        ScriptCall(StoreScripts.cancel, scriptKeys, [[UInt8](id.description), [UInt8](reason)]) {
            reply throws(StoreError) in
            switch reply.status {
            case "OK": .cancelled(isNew: try reply.int(1) == 1, isFinished: try reply.int(2) == 1)
            case "FINISHED": .finished
            case "GONE": .gone
            default: throw reply.unexpected
            }
        }
    }

    /// Cancels photos one by one.
    /// - Parameter id: The batch.
    /// - Parameter ranges: indexes from 0, apart from one another, at most 1,000 photos together.
    public func cancelPhotos(_ id: BatchID, _ ranges: [ClosedRange<Int>]) -> ScriptCall<CancelPhotosReply> {
        let bounds = ranges.flatMap { [[UInt8]($0.lowerBound), [UInt8]($0.upperBound)] }
        return ScriptCall(StoreScripts.cancelPhotos, scriptKeys, [[UInt8](id.description)] + bounds) {
            reply throws(StoreError) in
            switch reply.status {
            case "OK": .cancelled(try reply.int(1), wereFinal: try reply.int(2))
            case "UNFED": .notFed(photos: try reply.int(1))
            case "FINISHED": .finished
            case "CANCELLED": .cancelledBefore
            case "GONE": .gone
            default: throw reply.unexpected
            }
        }
    }

    /// Suspends or resumes a batch, or the cluster.
    /// - Parameters:
    ///   - id: the batch; nil for the cluster.
    ///   - part: what of it; each has a flag of its own.
    ///   - isSuspended: false resumes.
    public func suspend(_ id: BatchID?, _ part: QueuePart, _ isSuspended: Bool) -> ScriptCall<SteerReply> {
        let flag = part == .everything ? "suspended" : "\(part.rawValue).suspended"
        let arguments = [[UInt8](id?.description ?? ""), [UInt8](flag), isSuspended ? [49] : [48]]
        return ScriptCall(StoreScripts.suspend, scriptKeys, arguments) { reply throws(StoreError) in
            try Self.steered(reply)
        }
    }

    /// Changes the priority of a batch, effective with the next claim.
    public func prioritize(_ id: BatchID, _ priority: Priority) -> ScriptCall<SteerReply> {
        let arguments = [[UInt8](id.description), [UInt8](priority.rawValue)]
        return ScriptCall(StoreScripts.prioritize, scriptKeys, arguments) { reply throws(StoreError) in
            try Self.steered(reply)
        }
    }

    /// Sets the focus of a batch, the photos that run next; nil clears it.
    public func focus(_ id: BatchID, _ focus: Steering.Focus?) -> ScriptCall<FocusReply> {
        var arguments = [[UInt8](id.description)]
        if let focus {
            arguments += [
                [UInt8](focus.photos.lowerBound), [UInt8](focus.photos.upperBound), focus.only ? [49] : [48],
            ]
        } else {
            arguments += [[], [], [48]]
        }
        return ScriptCall(StoreScripts.focus, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK": .done(isNew: try reply.int(1) == 1, photos: try reply.int(2))
            case "FINISHED": .finished
            case "CANCELLED": .cancelled
            case "GONE": .gone
            default: throw reply.unexpected
            }
        }
    }

    /// Sets how much every worker does at once, over what each was started with; nil leaves a limit as it is.
    /// - Returns: whether something changed.
    public func setLimits(downloads: Int?, filtrations: Int?) -> ScriptCall<Bool> {
        limits(downloads.map { [UInt8]($0) } ?? [], filtrations.map { [UInt8]($0) } ?? [])
    }

    /// Leaves it to each worker how much it does at once.
    /// - Returns: whether something changed.
    public func clearLimits() -> ScriptCall<Bool> { limits([48], [48]) }

    private func limits(_ downloads: [UInt8], _ filtrations: [UInt8]) -> ScriptCall<Bool> {
        ScriptCall(StoreScripts.limits, scriptKeys, [downloads, filtrations]) { reply throws(StoreError) in
            try reply.int(1) == 1
        }
    }

    /// Makes a batch wait for another. Circles are the caller's to look for.
    /// - Parameter id: The batch.
    /// - Parameter other: The batch that it is to wait for.
    /// - Parameter version: ``dependencyVersion()`` as it was before the caller looked at the dependencies.
    public func depend(_ id: BatchID, on other: BatchID, version: Int) -> ScriptCall<DependReply> {
        let arguments = [[UInt8](id.description), [UInt8](other.description), [UInt8](version)]
        return ScriptCall(StoreScripts.depend, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK": .added(isNew: try reply.int(1) == 1)
            case "OVER": .finishedBefore
            case "FAILED": .failedBefore
            case "STARTED": .started
            case "CANCELLED": .cancelled
            case "MOVED": .moved
            case "GONE": .gone(try reply.batch(1))
            case "ITSELF": .itself
            default: throw reply.unexpected
            }
        }
    }

    /// Makes a batch no longer wait for another.
    public func undepend(_ id: BatchID, from other: BatchID) -> ScriptCall<UndependReply> {
        let arguments = [[UInt8](id.description), [UInt8](other.description)]
        return ScriptCall(StoreScripts.undepend, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK": .removed(isNew: try reply.int(1) == 1)
            case "GONE": .gone(try reply.batch(1))
            default: throw reply.unexpected
            }
        }
    }

    /// Makes failed photos new again, one bounded step.
    /// - Parameters:
    ///   - id: the batch.
    ///   - first: the operation to begin with.
    ///   - last: the last operation to look at; beyond what is fed is well.
    ///   - reasons: only photos that failed for one of these; none means all.
    ///   - overwrite: take the output folder back from the batch that has taken it.
    ///   - seen: the number of the holder that the output folder names.
    public func retry(
        _ id: BatchID, from first: Int = 1, through last: Int = 1_000_000_000, reasons: [FailureReason] = [],
        overwrite: Bool = false, above seen: Int = 0
    ) -> ScriptCall<RetryReply> {
        let arguments = [
            [UInt8](id.description), [UInt8](first), [UInt8](last), reasons.map(\.letter),
            overwrite ? [UInt8](seen) : [],
        ]
        return ScriptCall(StoreScripts.retry, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK":
                let next = try reply.int(3)
                return .retried(photos: try reply.int(1), notKept: try reply.int(2), next: next == 0 ? nil : next)
            case "CANCELLED": return .cancelled
            case "BUSY": return .busy
            case "OUTPUT": return .outputTaken(by: try reply.batch(1))
            case "GONE": return .gone
            default: throw reply.unexpected
            }
        }
    }

    /// Gives an operation that ended with failures its entry back, so that it can be retried.
    public func restore(_ id: BatchID, operation number: Int, entry: [UInt8]) -> ScriptCall<RestoreReply> {
        ScriptCall(StoreScripts.restore, scriptKeys, [[UInt8](id.description), [UInt8](number), entry]) {
            reply throws(StoreError) in
            switch reply.status {
            case "OK": .restored
            case "NEEDLESS": .notNeeded
            case "GONE": .gone
            default: throw reply.unexpected
            }
        }
    }

    // MARK: Webhooks

    /// Takes a webhook that is due: an attempt, which is counted.
    /// - Parameter due: The webhook, as a heartbeat listed it.
    /// - Parameter duration: how long the caller has for it before others may take it.
    public func takeWebhook(_ due: DueWebhook, for duration: Duration) -> ScriptCall<TakeWebhookReply> {
        let arguments = [
            [UInt8](due.member), [UInt8](due.score), [UInt8](duration.wholeMilliseconds), [49] as [UInt8],
        ]
        return ScriptCall(StoreScripts.webhook, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK": .taken(attempts: try reply.int(1), score: try reply.int(2))
            case "MOVED": .moved
            default: throw reply.unexpected
            }
        }
    }

    /// Ends an attempt: the webhook is done, or the next attempt follows after `delay`.
    /// - Parameters:
    ///   - member: ``DueWebhook/member``.
    ///   - score: what ``takeWebhook(_:for:)`` answered.
    ///   - delay: until the next attempt; nil when none follows.
    /// - Returns: false when others have taken it meanwhile.
    public func settleWebhook(_ member: String, score: Int, retryAfter delay: Duration?) -> ScriptCall<Bool> {
        let arguments = [
            [UInt8](member), [UInt8](score), delay.map { [UInt8]($0.wholeMilliseconds) } ?? [], [48] as [UInt8],
        ]
        return ScriptCall(StoreScripts.webhook, scriptKeys, arguments) { reply throws(StoreError) in
            reply.status == "OK"
        }
    }

    // MARK: Reading

    /// What holds for the cluster.
    public func clusterSteering() throws(StoreError) -> ClusterSteering {
        let names = [
            "suspended", "downloads.suspended", "filtrations.suspended", "downloads.limit", "filtrations.limit",
        ]
        let words = ["HMGET", keys.control] + names
        let values = try read(RedisCommand(arguments: words.map { [UInt8]($0) })).array ?? []
        guard values.count == names.count else { throw .unexpectedReply(.array(values), of: "HMGET") }
        var cluster = ClusterSteering()
        cluster.isSuspended = values[0].string == "1"
        cluster.areDownloadsSuspended = values[1].string == "1"
        cluster.areFiltrationsSuspended = values[2].string == "1"
        cluster.downloads = ClusterSteering.limit(values[3].int, ClusterSteering.downloadLimits)
        cluster.filtrations = ClusterSteering.limit(values[4].int, ClusterSteering.filtrationLimits)
        return cluster
    }

    /// The batches that a batch waits for, in order of their ids.
    public func dependencies(of id: BatchID) throws(StoreError) -> [BatchID] {
        try members(keys.dependencies(id))
    }

    /// The batches that wait for a batch, in order of their ids.
    public func dependents(of id: BatchID) throws(StoreError) -> [BatchID] {
        try members(keys.dependents(id))
    }

    /// The number of the last change of anybody's dependencies.
    public func dependencyVersion() throws(StoreError) -> Int {
        try read(RedisCommand("HGET", keys.control, "dependencies")).number ?? 0
    }

    private static func steered(_ reply: ScriptReply) throws(StoreError) -> SteerReply {
        switch reply.status {
        case "OK": .done(isNew: try reply.int(1) == 1)
        case "FINISHED": .finished
        case "CANCELLED": .cancelled
        case "GONE": .gone
        default: throw reply.unexpected
        }
    }

    private func members(_ key: String) throws(StoreError) -> [BatchID] {
        (try read(RedisCommand("SMEMBERS", key)).array ?? []).compactMap(\.batch).sorted()
    }
}
