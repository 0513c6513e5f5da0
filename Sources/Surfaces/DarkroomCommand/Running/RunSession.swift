import Darkroom
import DarkroomCoordinator
import DarkroomLists
import DarkroomLogging
import DarkroomRedis
import DarkroomStore
import DarkroomTelemetry
import DarkroomText
import DarkroomWorker
import Foundation

/// One `darkroom run`: starts or uses a Redis server, and runs a coordinator and a worker in this process until the
/// batch has finished.
final class RunSession {
    /// The result of a run.
    struct Outcome {
        let batch: BatchFacts
        /// The Redis time, in milliseconds since 1970.
        let now: Int
        /// Whether an earlier run had finished the batch.
        let wasFinished: Bool
        /// Whether the run was interrupted before the batch had finished.
        let isInterrupted: Bool
        /// A failed photo for each reason.
        let failures: [FailureReason: PhotoFailure]
        /// The resources for which the photos waited in the running workers.
        let waited: ResourceWaits
    }

    private let folder: RunFolder
    private let identity: RunIdentity
    private let conditions: RunConditions
    private let options: BatchOptions
    private let overwrite: Bool
    private let privateRedis: PrivateRedis?
    let client: DarkroomClient
    private let progress: LiveProgress

    /// The time since which the only worker of the batch has refused it; nil while the worker accepts the batch.
    private var refusedSince: ContinuousClock.Instant?
    /// The run continues after a shorter refusal, which may end without a user, for example when a share is mounted
    /// again.
    private static let refusalPatience = Duration.seconds(10)

    /// Starts the private Redis, or connects to the shared Redis.
    /// - Parameter again: Forget the batch of an earlier run, with its manifest. Its photos stay.
    init(
        folder: RunFolder, identity: RunIdentity, conditions: RunConditions, options: BatchOptions, overwrite: Bool,
        again: Bool, shared: RedisConfiguration?, keys: Keys, progress: LiveProgress
    ) throws {
        self.folder = folder
        self.identity = identity
        self.conditions = conditions
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

    /// The URL of the Redis server, without a password.
    var redisURL: String { client.location.description }

    /// Develops the list, or continues an earlier run, until the batch finishes or is cancelled, or the run is
    /// interrupted. Runs failed photos of an earlier run once more, if an option of this run may mend the failure.
    /// Throws if the batch is damaged.
    /// - Parameters:
    ///   - retry: When all photos are done, run the failed photos once more.
    ///   - replicas: The number of Redis replicas that must confirm the batch, see ``Coordinator``.
    func develop(
        _ list: SelectedPhotos, worker configuration: PhotoWorkerConfiguration, telemetry: WorkerTelemetry, retry: Bool,
        replicas: Int?,
        interruption: RunInterruption
    ) throws -> Outcome {
        if privateRedis != nil {
            // A run of an earlier version may have left a batch whose data contradict each other.
            var hasMore = true
            while hasMore {
                let steps = try client.store.repair(steps: 100)
                for batch in steps.repaired {
                    progress.note("repaired batch \(batch), whose data in Redis contradicted each other")
                }
                hasMore = steps.hasMore
            }
        }
        let found = try earlierBatch()
        let (begun, earlier) = (found?.batch, found?.state)
        let mendings = earlier?.mendings(under: conditions) ?? []
        let mended = mendings.reasons.intersection(begun?.failures.keys.map { $0 } ?? [])
        if privateRedis != nil {
            // This process holds the lock of the folder, so no other worker uses this Redis server, and every lease may
            // be ended.
            while try client.store.perform(client.store.expireLeases()) {}
        }
        // The worker logs only errors: the progress and the summary show failed photos, and the waiter reports an
        // unreachable Redis.
        let logger = Logger(label: "worker", level: .error, handler: NoteLog(note: progress.note))
        var configuration = configuration
        // A batch in Redis can name any folder. This worker writes only to the folders of its own run.
        configuration.outputFolders = [options.output, options.originals].filter { !$0.isEmpty }
        let worker = try Worker(
            redis: client.location.redis, keys: client.location.keys, configuration: configuration,
            observer: telemetry.observer,
            logger: logger)
        let coordinator = client.coordinator(replicas: replicas) { [progress] in
            progress.note(RemedyWording.commands.text($0))
        }
        interruption.onFirst { [progress] in
            progress.note(
                "stopping: running photos may finish, all others wait for the next run; interrupt again to exit now")
            coordinator.stop()
            worker.stop()
        }
        var isWorking = false
        func work() throws {
            guard !isWorking else { return }
            if let earlier { try note(earlier.batch, earlier.conditions?.adding(conditions)) }
            try worker.start()
            isWorking = true
        }
        let wasFinished = begun?.state == .finished
        if !wasFinished || (retry && (begun?.counts.failed ?? 0) > 0) || !mended.isEmpty { try work() }
        defer {
            // If the private Redis has ended, the worker cannot release its operations.
            if privateRedis?.isRunning == false { worker.leave() } else { worker.stop() }
            if isWorking { worker.wait() }
        }
        var batch = try watch(feed(list, coordinator, begun), interruption, onOpen: work)
        // Stops the feeder of a cancelled batch, even if the feeder is still reading the list.
        coordinator.stop()
        if batch.state == .finished, !batch.cancelled {
            if retry {
                batch = try retryFailed(batch, [], list, interruption)
            } else if !mended.isEmpty {
                let options = mendings.filter { !$0.reasons.isDisjoint(with: mended) }.map(\.option)
                progress.note(
                    "\(HumanText.list(options)) \(options.count == 1 ? "is" : "are") not as in the earlier run, which may "
                        + "mend photos that failed as \(HumanText.list(mended.map(\.word).sorted()))")
                batch = try retryFailed(batch, mended.sorted { $0.word < $1.word }, list, interruption)
            }
        }
        if let damage = batch.damageText {
            throw CommandError(
                "batch \(batch.id) is damaged in Redis (\(damage)), so no worker runs it; give --again to develop all photos "
                    + "again over the same files")
        }
        if batch.state == .finished, !batch.cancelled { reportLeftOver(batch) }
        let now = try client.store.time()
        return Outcome(
            batch: batch, now: now, wasFinished: !isWorking, isInterrupted: batch.state != .finished,
            failures: try client.store.firstFailures(of: batch),
            waited: ResourceWaits(try client.store.workers(), now: now, of: batch.id))
    }

    /// Reports the files that the earlier batch has written and this batch has not.
    private func reportLeftOver(_ batch: BatchFacts) {
        let left: [String]
        do {
            left = try replaced.leftOver(by: batch.id)
        } catch {
            return progress.note("the left-over files of the earlier batch cannot be determined: \(error)")
        }
        guard !left.isEmpty else { return }
        progress.note(
            "\(HumanText.count(left.count, of: "file")) of the earlier batch \(left.count == 1 ? "belongs" : "belong") to no "
                + "photo of this batch: \(HumanText.list(left)); \(replaced.leftOverPath) lists all, remove those that you do "
                + "not need")
    }

    private var replaced: ReplacedFiles { ReplacedFiles(folder) }

    /// Forgets the batch of an earlier run, with its manifest. An unreadable state file counts as "no batch".
    private func forget() throws {
        guard let state = try? folder.noted() else { return try folder.forget() }
        _ = try client.control.forget(state.batch, unfinished: true)
        do {
            try replaced.note(filesOf: state.batch)
        } catch {
            progress.note("the files of the earlier batch cannot be determined: \(error)")
        }
        folder.output.withdraw(state.batch)
        try folder.forget()
    }

    /// The batch of an earlier run, which this run continues; nil if there was no earlier run.
    private func earlierBatch() throws -> (batch: BatchFacts, state: RunState)? {
        guard let state = try folder.noted() else { return nil }
        try state.requireSame(identity)
        guard let batch = try client.store.facts(of: state.batch) else {
            // The state was written, but the batch was never submitted: no worker has written a file.
            if folder.output.isUntouched(by: state.batch) {
                folder.output.withdraw(state.batch)
                try folder.forget()
                return nil
            }
            throw CoordinatorError(
                .stateLost,
                "output folder \(options.output): batch \(state.batch) of the earlier run there is no longer in Redis; give --again "
                    + "to develop all photos again over the same files")
        }
        guard !batch.cancelled else {
            throw CoordinatorError(
                .stateDiffers,
                "output folder \(options.output): batch \(batch.id) of the earlier run there was cancelled; give --again to develop "
                    + "all photos again over the same files")
        }
        return (batch, state)
    }

    /// Stores the state of this run.
    private func note(_ batch: BatchID, _ conditions: [RunConditions]?) throws {
        try folder.note(RunState(batch: batch, identity: identity, conditions: conditions))
    }

    /// Starts feeding the photos of the list that are not in Redis yet.
    private func feed(_ list: SelectedPhotos, _ coordinator: Coordinator, _ begun: BatchFacts?) throws -> BatchFeed {
        // After this line, only the feeding thread uses the list.
        nonisolated(unsafe) let list = list
        if let id = begun?.id {
            return BatchFeed(coordinator) { coordinator, onBegun in
                onBegun(id)
                return try coordinator.resume(id, list)
            }
        }
        let id = BatchID(submittedAt: try client.store.time())
        // The state is written before the batch is submitted, so that the next run finds the batch even after a crash.
        try note(id, [conditions])
        return BatchFeed(coordinator) { [options, overwrite] coordinator, onBegun in
            try coordinator.submit(list, as: id, options: options, overwrite: overwrite, onSubmitted: onBegun)
        }
    }

    /// Shows the progress of the batch until it has finished or the run is interrupted.
    /// - Parameter onOpen: Called repeatedly while the batch is not finished. A finished batch executes again if
    ///   its list has grown.
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
                // `hasEnded` is read before the facts: if the feed has ended, the facts include its last operation.
                let hasEnded = feed.hasEnded
                let batch = try waitUntilFinished(client.store.batch(named: id.description), interruption) { batch in
                    if batch.state != .finished { try onOpen() }
                    _ = try feed.waitUntilEnded(for: .zero)
                }
                let isOver = batch.cancelled || !batch.damage.isEmpty
                if interruption.isRequested || isOver || hasEnded { return batch }
                _ = try feed.waitUntilEnded(for: .milliseconds(100))
            }
        } catch let error as CoordinatorError where error.code == .stopped {
            return try client.store.batch(named: id.description)
        } catch let error as CoordinatorError where error.code == .listDiffers {
            throw CoordinatorError(
                error.code, "\(error.problem); or give --again to develop all photos again over the same files",
                error.remedies)
        }
    }

    /// Shows the progress of the batch until it has finished or the run is interrupted. Rethrows an error that `check`
    /// throws.
    private func waitUntilFinished(
        _ batch: BatchFacts, _ interruption: RunInterruption, check: (BatchFacts) throws -> Void = { _ in }
    ) throws -> BatchFacts {
        var waiter = BatchWaiter(
            client, warnAfter: .seconds(5),
            wording: .commands(forOthers: batch.id, nameForOthers, address: address),
            warn: { [progress] text in if !interruption.isRequested { progress.note(text) } },
            onAway: { [privateRedis] in
                try privateRedis?.checkRunning()
                // An interrupt ends the wait for a Redis server that cannot be used, for example because its disk is
                // full.
                if interruption.isRequested { throw CoordinatorError(.stopped, "interrupted") }
            })
        return try waiter.wait(for: batch) { batch, problems, now in
            progress.show(batch, problems: problems, now: now)
            if interruption.isRequested { return true }
            try checkRefusal(batch, problems)
            try check(batch)
            return false
        }
    }

    /// Throws if the worker of this run is the only worker and has refused the batch for 10 s. A full disk is not an
    /// error: the batch continues when the disk has room again.
    private func checkRefusal(_ batch: BatchFacts, _ problems: [BatchProblem]) throws {
        let lasting: [BatchProblem.Code] = [.optionMissing, .folderMissing, .folderTaken, .refused]
        guard let problem = problems.first(where: { $0.batch == batch.id && lasting.contains($0.code) }) else {
            refusedSince = nil
            return
        }
        let since = refusedSince ?? .now
        refusedSince = since
        guard since + Self.refusalPatience < .now else { return }
        if privateRedis == nil {
            let now = try client.store.time()
            guard try client.store.workers().count(where: { $0.isLiving(now: now) }) < 2 else { return }
        }
        throw CommandError(
            "batch \(batch.id): \(problem.text); remove the cause, then run the same command again to continue")
    }

    /// Runs the failed photos of a finished batch once more, and shows the progress.
    /// - Parameter reasons: The reasons of these failures; if empty, all failed photos run.
    private func retryFailed(
        _ batch: BatchFacts, _ reasons: [FailureReason], _ list: SelectedPhotos, _ interruption: RunInterruption
    ) throws -> BatchFacts {
        guard batch.counts.failed > 0 else {
            progress.note("no photo has failed: there is nothing to run again")
            return batch
        }
        var photos = try client.control.retry(batch.id, reasons: reasons, overwrite: overwrite)
        if photos.notKept > 0 {
            // Redis keeps the entries of only a limited number of operations with failed photos. The other entries are
            // restored from the list.
            try list.rewind()
            let coordinator = client.coordinator { [progress] in progress.note(RemedyWording.commands.text($0)) }
            _ = try coordinator.restoreEntries(of: batch.id, from: list)
            photos.photos += try client.control.retry(batch.id, reasons: reasons, overwrite: overwrite).photos
        }
        // The options of this run cannot mend the photos that were not queued again, so only these conditions are
        // stored.
        try note(batch.id, [conditions])
        let verb = photos.photos == 1 ? "runs" : "run"
        progress.note("\(HumanText.count(photos.photos, of: "failed photo")) \(verb) again")
        progress.end()
        do {
            return try waitUntilFinished(client.store.batch(named: batch.id.description), interruption)
        } catch let error as CoordinatorError where error.code == .stopped {
            return try client.store.batch(named: batch.id.description)
        }
    }

    /// The batch argument for commands in other terminals: the output folder, and `--redis` for a shared server.
    private var nameForOthers: String {
        ShellWord.quoted(identity.output) + (privateRedis == nil ? " --redis ..." : "")
    }

    private var address: String { privateRedis == nil ? "--redis ..." : "--redis \(client.location)" }
}
