import DarkroomConcurrency
import DarkroomLists
import DarkroomModel
import DarkroomRedis
import DarkroomStorage
import DarkroomStore

/// Splits photo lists into operations and feeds them, for `darkroom submit` and `darkroom run`.
///
/// A coordinator is needed only for feeding: without it, workers still finish the fed operations. Any coordinator
/// with the same list can resume an interrupted feed. The functions block. Only one thread at a time may call them, but
/// any thread may call ``stop()``.
/// If the batch is cancelled while its list is being fed, the functions throw ``BatchCancelled``.
package final class Coordinator: Sendable {
    let store: BatchStore
    let control: FeedControl
    private let replicas: Int?

    /// Creates a coordinator that feeds through a store.
    /// - Parameters:
    ///   - store: the store of the batches.
    ///   - patience: how long Redis may be unreachable before the feed fails. If Redis is reachable but out of memory,
    ///     the coordinator waits without a time limit.
    ///   - replicas: the number of replicas that must confirm the batch; nil means one if Redis has replicas. If fewer
    ///     replicas have confirmed the batch after 10 s, the coordinator reports a notice, not an error.
    ///   - onNotice: called with notices for the user.
    package init(
        store: BatchStore, patience: Duration = .seconds(300), replicas: Int? = nil,
        onNotice: @escaping @Sendable (FeedNotice) -> Void = { _ in }
    ) {
        self.store = store
        self.replicas = replicas
        control = FeedControl(store: store, patience: patience, onNotice: onNotice)
    }

    /// Makes a running feed throw the error `stopped` at the next photo. Photos that are already fed remain.
    package func stop() { control.stop() }

    /// Submits a list as a new batch, feeds and seals it, and blocks until the batch is durable in Redis.
    ///
    /// The batch is submitted after the first photo has been read, so that an unreadable list leaves nothing in Redis.
    /// - Parameters:
    ///   - list: the photos.
    ///   - id: an id that the caller has made, or the id of a batch that Redis has lost; nil for a new id.
    ///   - options: the options of the batch. `output` and `originals` must be absolute paths.
    ///   - before: batches that must finish before this batch starts. The list is fed while the batch waits.
    ///   - overwrite: whether the batch takes the output folder even if another batch has taken it.
    ///   - limit: the longest time, from the first photo on, for which Redis may be unreachable or out of memory. After
    ///     this time, the call throws `redisUnreachable` or `busy`; after `redisUnreachable`, the batch may exist. If
    ///     `limit` is nil, only the patience of this coordinator counts.
    ///   - onSubmitted: called with the id of the batch after it has been submitted.
    ///   - beforeTrying: called before each attempt to submit the batch, after the first photo has been read. If
    ///     `beforeTrying` throws, no further attempt is made, but an earlier attempt may have submitted the batch.
    package func submit(
        _ list: some PhotoListSource, as id: BatchID? = nil, options: BatchOptions, after before: [BatchID] = [],
        overwrite: Bool = false, within limit: Duration? = nil, onSubmitted: (BatchID) throws -> Void = { _ in },
        beforeTrying: () throws -> Void = {}
    ) throws -> BatchFacts {
        guard options.outOfBounds.isEmpty else {
            throw CoordinatorError(
                .outOfBounds,
                "the options of the batch are out of bounds: \(options.outOfBounds.joined(separator: ", ")); nothing was "
                    + "submitted")
        }
        guard before.count <= BatchOptions.mostBatchesBefore else {
            throw CoordinatorError(
                .outOfBounds,
                "the batch would wait for \(before.count) batches, at most \(BatchOptions.mostBatchesBefore) are possible; let "
                    + "one of them wait for others; nothing was submitted")
        }
        return try feedAndSeal(list) {
            let id = try id ?? BatchID(submittedAt: control.retrying { try store.time() })
            try begin(id, options, overwrite: overwrite) {
                try put(
                    id, options, after: before, overwrite: overwrite, within: limit, beforeTrying: beforeTrying)
            }
            try onSubmitted(id)
            return id
        } again: { id in
            // Redis keeps the ids of forgotten batches, so this call submits only a batch that was lost in a failover.
            try put(id, options, after: before, overwrite: overwrite)
        }
    }

    /// Continues to feed a batch at the operation that Redis expects, seals it, and blocks until the batch is durable.
    ///
    /// The call compares the digest of the photos already fed with the digest of the same photos in the list. If the
    /// list differs, the call throws and changes nothing. If the list contains more photos than the sealed batch, the
    /// new photos are fed; if the batch had finished, it starts a new round. If the batch is cancelled, the call
    /// throws.
    /// - Parameter id: The batch.
    /// - Parameter list: The photo list.
    /// - Parameter onResumed: Called with the batch's id after the check that the batch exists and is not cancelled.
    package func resume(
        _ id: BatchID, _ list: some PhotoListSource, onResumed: (BatchID) throws -> Void = { _ in }
    ) throws -> BatchFacts {
        let begun = try facts(of: id)
        guard !begun.cancelled else {
            throw CoordinatorError(
                .cancelled,
                "batch \(id) was cancelled: it takes no more photos, and those it has do not run",
                .submitAgainOverwriting)
        }
        try onResumed(id)
        do {
            return try feedAndSeal(list) { id }
        } catch let error as CoordinatorError where error.code == .listDiffers {
            // If the manifest cannot be read, the error does not describe the first difference.
            guard let first = try? ListDifference.first(in: list, from: begun) else { throw error }
            throw CoordinatorError(.listDiffers, "\(error.problem). The first difference: \(first)", error.remedies)
        }
    }

    // MARK: - Steps

    /// Prepares the folders and submits a batch without photos.
    /// - Parameter put: submits the batch; returns false if the batch was forgotten.
    private func begin(_ id: BatchID, _ options: BatchOptions, overwrite: Bool, put: () throws -> Bool) throws {
        if !options.originals.isEmpty, !options.remoteOutput {
            let originals = WritableFolder(role: "originals folder", path: options.originals)
            try CoordinatorError.storing { () throws(StorageError) in
                try originals.create()
                try originals.tryWriting()
            }
        }
        let place = options.output.isEmpty || options.remoteOutput ? nil : StorageSchemes.place(options.output)
        let isNew = place?.isUntouched(by: id) ?? false
        if let place {
            let origin = try control.retrying { try store.perform(store.identify()) }
            try CoordinatorError.storing { () throws(StorageError) in
                if !overwrite {
                    try place.checkFree(for: id, origin: origin) { other in
                        // If Redis cannot be read, the batch counts as existing.
                        (try? store.facts(of: [other]))?.isEmpty ?? false
                    }
                }
                _ = try place.examine(renditions: options.renditions.map(\.name))
                try place.reserve(for: id, origin: origin)
            }
        }
        do {
            guard try put() else { throw CoordinatorError.gone(id) }
        } catch {
            if isNew { place?.withdraw(id) }
            throw error
        }
    }

    /// Submits a batch without photos, unless it exists. Returns false if the batch was forgotten.
    private func put(
        _ id: BatchID, _ options: BatchOptions, after before: [BatchID], overwrite: Bool, within limit: Duration? = nil,
        beforeTrying: () throws -> Void = {}
    ) throws -> Bool {
        let reply = try control.retrying(within: limit, beforeTrying: beforeTrying) {
            try store.perform(
                store.submit(
                    id, options, overwrite: overwrite, above: StorageSchemes.place(options.output).lastTaken,
                    after: before))
        }
        switch reply {
        case .submitted, .exists: return true
        case .forgotten: return false
        case .gone(let other):
            throw CoordinatorError(
                .batchGone,
                "batch \(other), which must finish first, is not in Redis: it was forgotten or never submitted; nothing "
                    + "was submitted")
        case .nameTaken(let other):
            throw CoordinatorError.nameTaken(options.name, by: other)
        case .outputTaken(let other):
            throw CoordinatorError.outputTaken(StorageSchemes.place(options.output), by: other)
        }
    }

    /// Feeds a list and seals its batch. If Redis loses confirmed operations, or if another coordinator seals the batch
    /// during the feed, the list is read again.
    /// - Parameters:
    ///   - begin: called at the first photo of the list; returns the batch.
    ///   - again: called if the batch is missing; submits the batch again and returns true, or returns false if the
    ///     batch was forgotten.
    private func feedAndSeal(
        _ list: some PhotoListSource, begin: () throws -> BatchID, again: (BatchID) throws -> Bool = { _ in false }
    ) throws -> BatchFacts {
        var begun: BatchID?
        var heartbeat: PeriodicThread?
        defer { heartbeat?.stop() }
        func beginWithHeartbeat() throws -> BatchID {
            let id = try begin()
            heartbeat = Self.feederHeartbeat(of: id, in: store)
            return id
        }
        repeat {
            do {
                if let facts = try feedAndSealOnce(list, &begun, begin: beginWithHeartbeat) { return facts }
            } catch let error as CoordinatorError {
                guard error.code == .batchGone, let id = begun, try again(id) else { throw error }
                control.notice(.readingAgain)
            }
            try list.rewind()
        } while true
    }

    /// Sends the heartbeat of a batch's feeder, so that monitors can distinguish a waiting feeder from a crashed
    /// feeder. After 30 s without a heartbeat, monitors report the feeder.
    static func feederHeartbeat(
        of batch: BatchID, in store: BatchStore, every interval: Duration = .seconds(10)
    ) -> PeriodicThread {
        // A lost heartbeat is not an error: the feeder itself reports a lost connection.
        PeriodicThread("feeder-beat", every: interval) { store.send([store.feederHeartbeat(batch)]) { _ in } }
    }

    /// Reads the list, feeds it and seals the batch once. Returns nil if the list must be read again.
    private func feedAndSealOnce(
        _ list: some PhotoListSource, _ begun: inout BatchID?, begin: () throws -> BatchID
    ) throws -> BatchFacts? {
        do {
            let totals = try pass(list) {
                let id = try begun ?? begin()
                begun = id
                return try facts(of: id)
            }
            guard let id = begun, let totals else {
                throw CoordinatorError(.emptyList, "the photo list has no photos; nothing was submitted")
            }
            if try seal(id, totals) { return try facts(of: id) }
            control.notice(.readingAgain)
            return nil
        } catch let again as FeedPipeline.ReadAgain {
            control.notice(again == .rolledBack ? .readingAgain : .overtaken)
            return nil
        } catch is FeedPipeline.Cancelled {
            guard let id = begun else { preconditionFailure("a batch was fed before it was begun") }
            throw BatchCancelled(batch: try facts(of: id))
        }
    }

    /// Reads a list once and feeds those photos that Redis does not have yet. Returns nil if the list has no photos.
    private func pass(_ list: some PhotoListSource, begin: () throws -> BatchFacts) throws -> FedTotals? {
        var feeder: Feeder?
        try list.forEach { entry in
            if feeder == nil { feeder = Feeder(store: store, facts: try begin(), control: control) }
            try feeder?.append(entry)
            return true
        }
        return try feeder?.finish()
    }

    /// Seals a batch and blocks until it is durable in Redis. Returns false if Redis has lost confirmed operations.
    private func seal(_ id: BatchID, _ totals: FedTotals) throws -> Bool {
        // Each attempt seals the batch again: after a failover, the wait succeeds on the new master even if this master
        // has lost the seal.
        let durability = Durability(store: store, replicas: replicas, check: control.check)
        let (reply, outcome) = try control.retrying {
            let reply = try store.perform(store.seal(id, operations: totals.operations, photos: totals.photos))
            return (reply, reply == .sealed ? try durability.wait() : nil)
        }
        switch reply {
        case .sealed:
            if outcome?.keepsFile == false { control.notice(.notPersistent) }
            if let lack = outcome?.lack { control.notice(.tooFewReplicas(lack)) }
            return true
        case .gone: throw CoordinatorError.gone(id)
        case .cancelled: throw FeedPipeline.Cancelled()
        case .differs: return false
        }
    }

    func facts(of id: BatchID) throws -> BatchFacts {
        guard let facts = try control.retrying({ try store.facts(of: id) }) else { throw CoordinatorError.gone(id) }
        return facts
    }
}
