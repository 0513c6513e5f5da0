import DarkroomModel
import DarkroomRedis
import DarkroomStore

/// Splits photo lists into operations and feeds them: what `darkroom submit` and `darkroom run` do.
///
/// Only feeding needs a coordinator: what is fed is finished without it. A feed that was interrupted is resumed by any
/// coordinator that has the same list. The functions block; one thread at a time may call them, any thread `stop()`.
/// A batch that is cancelled while it is fed ends the feed with ``BatchCancelled``.
package final class Coordinator: Sendable {
    let store: BatchStore
    let control: FeedControl
    private let replicas: Int?

    /// A coordinator that feeds through a store.
    /// - Parameters:
    ///   - store: where it feeds.
    ///   - patience: how long Redis may be away while a list is fed before the coordinator gives up. While Redis only has no
    ///     memory left, it waits for any time.
    ///   - replicas: how many replicas of Redis are waited for before a batch counts as submitted, for 10 s; nil is one
    ///     where there are any. When fewer have it by then, that is a notice and no error.
    ///   - onNotice: is told what users may want to know meanwhile; called on the feeding thread.
    package init(
        store: BatchStore, patience: Duration = .seconds(300), replicas: Int? = nil,
        onNotice: @escaping @Sendable (FeedNotice) -> Void = { _ in }
    ) {
        self.store = store
        self.replicas = replicas
        control = FeedControl(store: store, patience: patience, onNotice: onNotice)
    }

    /// The operations of the current feed that Redis has confirmed.
    package var confirmedOperations: Int { control.confirmedOperations }

    /// Makes a feed that runs end with the error `stopped`, as soon as the list's next photo is read. What is fed stays.
    package func stop() { control.stop() }

    /// Submits a list as a new batch, feeds and seals it, and blocks until Redis has it safely.
    ///
    /// Nothing is submitted before the list's first photo is there, so a list that cannot be read leaves nothing behind.
    /// - Parameters:
    ///   - list: the photos.
    ///   - id: what the batch is to be named by: the id of one that Redis has lost; nil makes an id.
    ///   - options: what is asked of the batch; `output` and `originals` are absolute paths.
    ///   - before: batches that must have finished before it begins; it is fed meanwhile.
    ///   - overwrite: take the output folder also when another batch has it.
    ///   - onSubmitted: is told the batch's id as soon as it is submitted.
    package func submit(
        _ list: some PhotoListSource, as id: BatchID? = nil, options: BatchOptions, after before: [BatchID] = [],
        overwrite: Bool = false,
        onSubmitted: (BatchID) throws -> Void = { _ in }
    ) throws -> BatchFacts {
        guard options.outOfBounds.isEmpty else {
            throw CoordinatorError(
                .optionsOutOfBounds,
                "the options of the batch are out of bounds: \(options.outOfBounds.joined(separator: ", ")); nothing was "
                    + "submitted")
        }
        return try feedAndSeal(list) {
            let id = try id ?? BatchID(submittedAt: control.retrying { try store.time() })
            try begin(id, options, after: before, overwrite: overwrite)
            try onSubmitted(id)
            return id
        } again: { id in
            // Redis notes which batches were forgotten. Any other batch that is gone was lost by a failover.
            try put(id, options, after: before, overwrite: overwrite) == .submitted
        }
    }

    /// Goes on feeding a batch where Redis expects the next operation, seals it, and blocks until Redis has it safely.
    ///
    /// What was fed before is compared by its digest; a list that differs is an error, and nothing is changed. A list that has
    /// more photos than a batch that was fed to its end has grown: these are fed, too, and a batch that has finished
    /// begins a new round. A batch that was cancelled is an error.
    /// - Parameter id: The batch.
    /// - Parameter list: The photo list.
    /// - Parameter onResumed: is told the batch's id once it is known to be there and not cancelled.
    package func resume(
        _ id: BatchID, _ list: some PhotoListSource, onResumed: (BatchID) throws -> Void = { _ in }
    ) throws -> BatchFacts {
        let begun = try facts(of: id)
        guard !begun.cancelled else {
            throw CoordinatorError(
                .batchCancelled,
                "batch \(id) was cancelled: it takes no more photos, and those it has do not run; submit the list again as a new "
                    + "batch, with --overwrite into the same folder")
        }
        try onResumed(id)
        do {
            return try feedAndSeal(list) { id }
        } catch let error as CoordinatorError where error.code == .listDiffers {
            // Without the manifest the error is as true, and says less.
            guard let first = try? ListDifference.first(in: list, from: begun) else { throw error }
            throw CoordinatorError(.listDiffers, "\(error). The first difference: \(first)")
        }
    }

    // MARK: - Steps

    /// Prepares the folders and submits a batch without photos.
    private func begin(_ id: BatchID, _ options: BatchOptions, after before: [BatchID], overwrite: Bool) throws {
        if !options.originals.isEmpty, !options.remoteOutput { try OriginalsFolder(path: options.originals).prepare() }
        let folder = options.output.isEmpty || options.remoteOutput ? nil : OutputFolder(path: options.output)
        let isNew = folder?.isUntouched(by: id) ?? false
        let origin = try folder.map { _ in try control.retrying { try store.perform(store.identify()) } }
        try folder?.prepare(for: id, overwrite: overwrite, origin: origin) { other in
            // What cannot be asked for counts as there.
            (try? store.facts(of: [other]))?.isEmpty ?? false
        }
        do {
            let presence = try put(id, options, after: before, overwrite: overwrite)
            guard presence == .submitted else { throw Self.gone(id) }
        } catch {
            if isNew { folder?.withdraw(id) }
            throw error
        }
    }

    /// Whether a batch is there.
    private enum Presence { case submitted, forgotten }

    /// Submits a batch without photos, unless it is there or was forgotten.
    private func put(
        _ id: BatchID, _ options: BatchOptions, after before: [BatchID], overwrite: Bool
    ) throws -> Presence {
        let reply = try control.retrying {
            try store.perform(
                store.submit(
                    id, options, overwrite: overwrite, above: OutputFolder(path: options.output).lastTaken,
                    after: before))
        }
        switch reply {
        case .submitted, .exists: return .submitted
        case .forgotten: return .forgotten
        case .gone(let other):
            throw CoordinatorError(
                .batchGone,
                "batch \(other), which was to finish first, is not in Redis: it was forgotten, or never there; nothing "
                    + "was submitted")
        case .nameTaken(let other):
            throw CoordinatorError(
                .nameTaken,
                "the name \"\(options.name)\": batch \(other) has it and has not finished; choose another name, wait until that "
                    + "batch has finished, or cancel it; nothing was submitted")
        case .outputTaken(let other):
            throw CoordinatorError(
                .outputTaken,
                "output folder \(options.output): batch \(other) writes there; choose another folder, forget that batch, "
                    + "or say --overwrite to write over its photos")
        }
    }

    /// Feeds a list to the batch that `begin` names at the list's first photo, and seals it. Where Redis loses what it had
    /// confirmed, or somebody else seals the batch meanwhile, the list is read again.
    /// - Parameter again: is told of a batch that is gone, and submits it again unless it was forgotten; true when it has.
    private func feedAndSeal(
        _ list: some PhotoListSource, begin: () throws -> BatchID, again: (BatchID) throws -> Bool = { _ in false }
    ) throws -> BatchFacts {
        var begun: BatchID?
        var heart: FeederHeart?
        defer { heart?.stop() }
        func beginAlive() throws -> BatchID {
            let id = try begin()
            heart = FeederHeart(store: store, batch: id)
            return id
        }
        repeat {
            do {
                if let facts = try feedAndSealOnce(list, &begun, begin: beginAlive) { return facts }
            } catch let error as CoordinatorError {
                guard error.code == .batchGone, let id = begun, try again(id) else { throw error }
                control.notice(.readingAgain)
            }
            try list.rewind()
        } while true
    }

    /// Nil when the list is to be read again.
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

    /// Reads a list once and feeds what Redis does not have of it; nil when the list has no photos.
    private func pass(_ list: some PhotoListSource, begin: () throws -> BatchFacts) throws -> FedTotals? {
        var feeder: Feeder?
        var failure: (any Error)?
        try list.read { name, url in
            do {
                if feeder == nil { feeder = Feeder(store: store, facts: try begin(), control: control) }
                try feeder?.append(name: name, url: url)
            } catch {
                failure = error
            }
            return failure == nil
        }
        if let failure { throw failure }
        return try feeder?.finish()
    }

    /// Seals a batch and blocks until Redis has it safely; false when Redis has lost something since it confirmed it.
    private func seal(_ id: BatchID, _ totals: FedTotals) throws -> Bool {
        // Both are tried again together: after a failover the new master may confirm what it has of a seal that is lost.
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
        case .gone: throw Self.gone(id)
        case .cancelled: throw FeedPipeline.Cancelled()
        case .differs: return false
        }
    }

    func facts(of id: BatchID) throws -> BatchFacts {
        guard let facts = try control.retrying({ try store.facts(of: id) }) else { throw Self.gone(id) }
        return facts
    }

    static func gone(_ id: BatchID) -> CoordinatorError {
        CoordinatorError(
            .batchGone,
            "batch \(id) is not in Redis: it was forgotten, or never there; \"darkroom batches\" lists those that are")
    }
}
