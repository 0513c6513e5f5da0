import Darkroom
import DarkroomCoordinator
import DarkroomLogging
import DarkroomRedis
import DarkroomStore
import DarkroomText
import DarkroomWorker
import Foundation

/// One `darkroom run`: a Redis, a coordinator and a worker in this process, until the batch of the folder has finished.
final class RunSession {
    /// How a run ended.
    struct Outcome {
        let batch: BatchFacts
        /// The Redis clock in ms.
        let now: Int
        /// True when all was done before.
        let wasFinished: Bool
        /// True when it was interrupted before all was done.
        let isInterrupted: Bool
    }

    private let folder: RunFolder
    private let identity: RunIdentity
    private let options: BatchOptions
    private let overwrite: Bool
    private let privateRedis: PrivateRedis?
    private let client: DarkroomClient
    private let progress: LiveProgress

    /// Starts the private Redis, or connects to a shared one.
    /// - Parameter again: forget the batch that was begun here, with its manifest; its photos stay.
    init(
        folder: RunFolder, identity: RunIdentity, options: BatchOptions, overwrite: Bool, again: Bool,
        shared: RedisConfiguration?, keys: Keys, progress: LiveProgress
    ) throws {
        self.folder = folder
        self.identity = identity
        self.options = options
        self.overwrite = overwrite
        self.progress = progress
        if let shared {
            for warning in try RedisRequirements.check(shared) { progress.note("warning: \(warning)") }
            privateRedis = nil
            client = DarkroomClient(RedisLocation(shared, keys))
        } else {
            if again { try PrivateRedis.forget(in: folder) }
            let server = try PrivateRedis(in: folder)
            privateRedis = server
            client = DarkroomClient(RedisLocation(server.configuration, keys))
        }
        try client.store.connection.connect()
        if again { try forget() }
    }

    /// Ends the private Redis.
    func close() {
        client.store.connection.close()
        privateRedis?.close()
    }

    /// The URL of the Redis, without a password.
    var redisURL: String { client.location.description }

    /// Develops the list, or goes on with it, until all is done, or it is interrupted or cancelled.
    /// - Parameters:
    ///   - retry: when all is done, run the photos that failed once more.
    ///   - replicas: how many replicas of the Redis are to have the batch, see ``Coordinator``.
    func develop(
        _ list: PhotoListReader, worker configuration: WorkerConfiguration, retry: Bool, replicas: Int?,
        interruption: RunInterruption
    ) throws -> Outcome {
        let begun = try begunBatch()
        if privateRedis != nil {
            // The lock is ours, so no worker of this Redis lives.
            while try client.store.perform(client.store.expireLeases()) {}
        }
        // Photos that fail are counted in the progress and told at the end; that Redis is away the waiter says.
        let logger = Logger(label: "worker", level: .error, handler: NoteLog(note: progress.note))
        var configuration = configuration
        // The batches that Redis holds decide where a worker writes: this one writes for its own run only.
        configuration.outputsUnder = [options.output, options.originals].filter { !$0.isEmpty }
        let worker = try Worker(
            redis: client.location.redis, keys: client.location.keys, configuration: configuration, logger: logger)
        let coordinator = client.coordinator(replicas: replicas) { [progress] in progress.note($0.description) }
        interruption.onFirst { [progress] in
            progress.note(
                "stopping: photos that run may end, all else waits for the next time; interrupt again to leave at once")
            coordinator.stop()
            worker.stop()
        }
        var isWorking = false
        func work() throws {
            if !isWorking { try worker.start() }
            isWorking = true
        }
        let wasFinished = begun?.state == .finished
        if !wasFinished || (retry && (begun?.counts.failed ?? 0) > 0) { try work() }
        defer {
            // Without its Redis nothing of what it holds can be handed back.
            if privateRedis?.isRunning == false { worker.leave() } else { worker.stop() }
            if isWorking { worker.wait() }
        }
        var batch = try watch(feed(list, coordinator, begun), interruption, onOpen: work)
        // Of a cancelled batch nothing more is fed, also where the feeder still waits for its list.
        coordinator.stop()
        if retry, batch.state == .finished, !batch.cancelled {
            batch = try retryFailed(batch, list, interruption)
        }
        if batch.state == .finished, !batch.cancelled { tellOfLeftOver(batch) }
        return Outcome(
            batch: batch, now: try client.store.time(), wasFinished: !isWorking, isInterrupted: batch.state != .finished
        )
    }

    /// Reports the files that an earlier batch has written and this one has not.
    private func tellOfLeftOver(_ batch: BatchFacts) {
        let left: [String]
        do {
            left = try replaced.leftOver(by: batch.id)
        } catch {
            return progress.note("which files of the batch before are left over cannot be told: \(error)")
        }
        guard !left.isEmpty else { return }
        progress.note(
            "\(HumanText.count(left.count, of: "file")) of the batch before \(left.count == 1 ? "is" : "are") of no photo of this "
                + "one: \(HumanText.list(left)); \(replaced.leftOverPath) names all, remove what you do not need"
        )
    }

    private var replaced: ReplacedFiles { ReplacedFiles(folder) }

    /// Forgets the batch that was begun here, with its manifest. An unreadable state file counts as "no batch".
    private func forget() throws {
        guard let state = try? folder.noted() else { return try folder.forget() }
        _ = try client.control.forget(state.batch, unfinished: true)
        do {
            try replaced.note(filesOf: state.batch)
        } catch {
            progress.note("which files the batch before has written cannot be told: \(error)")
        }
        folder.output.withdraw(state.batch)
        try folder.forget()
    }

    /// The batch that an earlier run began here and this one goes on with.
    private func begunBatch() throws -> BatchFacts? {
        guard let state = try folder.noted() else { return nil }
        let differences = identity.differences(from: state.identity)
        guard differences.isEmpty else {
            throw CoordinatorError(
                .stateDiffers,
                "output folder \(options.output): batch \(state.batch) was begun there for something else: \(differences.joined(separator: "; ")). "
                    + "Give the same as before to go on, choose another folder, or say --again to do all again over the same files"
            )
        }
        guard let batch = try client.store.facts(of: state.batch) else {
            // Noted, but never submitted: no worker has written anything.
            if folder.output.isUntouched(by: state.batch) {
                folder.output.withdraw(state.batch)
                try folder.forget()
                return nil
            }
            throw CoordinatorError(
                .stateLost,
                "output folder \(options.output): batch \(state.batch), which was begun there, is not in Redis any more; say --again "
                    + "to do all again over the same files")
        }
        guard !batch.cancelled else {
            throw CoordinatorError(
                .stateDiffers,
                "output folder \(options.output): batch \(batch.id), which was begun there, was cancelled; say --again to do all "
                    + "again over the same files")
        }
        return batch
    }

    /// Starts feeding what Redis does not have of the list.
    private func feed(_ list: PhotoListReader, _ coordinator: Coordinator, _ begun: BatchFacts?) throws -> BatchFeed {
        // From here on the feeding thread alone uses the list.
        nonisolated(unsafe) let list = list
        if let id = begun?.id {
            return BatchFeed(coordinator) { coordinator, onBegun in
                onBegun(id)
                return try coordinator.resume(id, list)
            }
        }
        let id = BatchID(submittedAt: try client.store.time())
        // Noted first: whatever happens then, the next run knows which batch is its own.
        try folder.note(RunState(batch: id, identity: identity))
        return BatchFeed(coordinator) { [options, overwrite] coordinator, onBegun in
            try coordinator.submit(list, as: id, options: options, overwrite: overwrite, onSubmitted: onBegun)
        }
    }

    /// Shows how the batch goes on until it has finished or is interrupted.
    /// - Parameter onOpen: called while there is work: a batch that had finished goes on when its list has grown.
    private func watch(
        _ feed: BatchFeed, _ interruption: RunInterruption, onOpen: () throws -> Void
    ) throws -> BatchFacts {
        let id: BatchID
        do {
            id = try feed.waitUntilBegun()
        } catch {
            try folder.forget()  // nothing was submitted
            throw error
        }
        do {
            let begun = try client.store.batch(named: id.description)
            if begun.state != .finished {
                progress.note("batch \(id); from another terminal: darkroom watch \(nameForOthers)")
            }
            while true {
                // The facts are read after this: a feed that has ended changes nothing more.
                let hasEnded = feed.hasEnded
                let batch = try waitUntilFinished(client.store.batch(named: id.description), interruption) { batch in
                    if batch.state != .finished { try onOpen() }
                    _ = try feed.waitUntilEnded(for: .zero)
                }
                if interruption.isRequested || batch.cancelled || hasEnded { return batch }
                _ = try feed.waitUntilEnded(for: .milliseconds(100))
            }
        } catch let error as CoordinatorError where error.code == .stopped {
            return try client.store.batch(named: id.description)
        } catch let error as CoordinatorError where error.code == .listDiffers {
            throw CoordinatorError(error.code, "\(error); or say --again to do all again over the same files")
        }
    }

    /// Shows how the batch goes on until it has finished or is interrupted; what `check` throws ends the waiting.
    private func waitUntilFinished(
        _ batch: BatchFacts, _ interruption: RunInterruption, check: (BatchFacts) throws -> Void = { _ in }
    ) throws -> BatchFacts {
        var waiter = BatchWaiter(
            client, warnAfter: .seconds(5),
            warn: { [progress, nameForOthers, address] text in
                // Other programs find the batch by its folder, and the private Redis by its address.
                let command = text.firstRange(of: ": darkroom ")?.lowerBound ?? text.endIndex
                let named = text[command...].replacing(" \(batch.id)", with: " \(nameForOthers)")
                let isOfRedis = command != text.endIndex && named == text[command...]
                guard !interruption.isRequested else { return }
                progress.note(text[..<command] + named + (isOfRedis ? " (with \(address))" : ""))
            },
            onAway: { [privateRedis] in
                try privateRedis?.checkRunning()
                // A Redis that cannot be used (its disk is full, say) holds up nobody who wants to leave.
                if interruption.isRequested { throw CoordinatorError(.stopped, "interrupted") }
            })
        return try waiter.wait(for: batch) { batch, problems in
            progress.show(batch, problems: problems)
            if interruption.isRequested { return true }
            try check(batch)
            return false
        }
    }

    /// Runs the failed photos of a finished batch once more, and shows how that goes on.
    private func retryFailed(
        _ batch: BatchFacts, _ list: PhotoListReader, _ interruption: RunInterruption
    ) throws -> BatchFacts {
        guard batch.counts.failed > 0 else {
            progress.note("no photo has failed: there is nothing to run again")
            return batch
        }
        var photos = try client.control.retry(batch.id, overwrite: overwrite)
        if photos.notKept > 0 {
            // Redis keeps the photos of a bounded number of operations; the list has them all.
            try list.rewind()
            let coordinator = client.coordinator { [progress] in progress.note($0.description) }
            _ = try coordinator.restoreEntries(of: batch.id, from: list)
            photos.photos += try client.control.retry(batch.id, overwrite: overwrite).photos
        }
        progress.note("\(HumanText.count(photos.photos, of: "photo")) run again that had failed")
        progress.end()
        do {
            return try waitUntilFinished(client.store.batch(named: batch.id.description), interruption)
        } catch let error as CoordinatorError where error.code == .stopped {
            return try client.store.batch(named: batch.id.description)
        }
    }

    /// How another terminal names the batch: by its output folder, and with `--redis` if the Redis is shared.
    private var nameForOthers: String {
        ShellWord.quoted(identity.output) + (privateRedis == nil ? " --redis ..." : "")
    }

    private var address: String {
        privateRedis == nil ? "--redis ..." : "--redis \(client.location)"
    }
}
