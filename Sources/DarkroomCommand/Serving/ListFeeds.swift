import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import DarkroomCoordinator
import DarkroomFiles
import DarkroomLogging
import DarkroomWeb
import Foundation

/// Feeds the lists that users of `darkroom serve` submit.
///
/// The files in the folder `lists` outlive the process: an uploaded list, and a record with the options for reading the
/// list. So a server that was stopped or killed continues its feeds at the next start.
final class ListFeeds: Sendable {
    private struct State {
        var coordinators: [ObjectIdentifier: Coordinator] = [:]
        /// The feeds that were interrupted and must continue.
        var interrupted: [Feed] = []
        var isStopped = false
    }

    private struct Feed {
        let record: ListStore.Record
        /// How often reading the list has failed.
        var failures = 0
        /// When an interrupted feed is tried again.
        var due = ContinuousClock.now
    }

    /// Each feed has a thread and a connection.
    private static let mostFeeds = 8
    /// The time between two attempts to continue feeds. It doubles with each failure to read the list.
    private static let pause = Duration.seconds(10)
    /// The feed of a list that cannot be read is given up after so many attempts, which take one and a half hours.
    private static let mostFailures = 10

    private let client: DarkroomClient
    /// The folder below which batches write.
    private let outputs: String
    private let mayBePrivate: Bool
    private let logger: Logger
    private let lists: ListStore
    private let state = Locked(State())
    private let signal = Signal()

    /// - Parameters:
    ///   - scratch: The folder of the server.
    ///   - mayBePrivate: Whether lists may come from private addresses.
    init(_ client: DarkroomClient, in scratch: String, outputs: String, mayBePrivate: Bool, logger: Logger) throws {
        self.client = client
        self.outputs = outputs
        self.mayBePrivate = mayBePrivate
        self.logger = logger
        lists = try ListStore(in: scratch)
    }

    var submission: ListSubmission {
        ListSubmission(fields: SubmittedOptions.fields, outputs: outputs) { [self] in try submit($0) }
    }

    /// Continues the feeds that an earlier process has not completed, on a thread of its own. The thread then continues
    /// the feeds that are interrupted because Redis is away.
    func resumeInterrupted() {
        state.withLock { $0.interrupted = lists.records().map { Feed(record: $0) } }
        // Nobody waits for the end of the thread, because the server of a list may not answer.
        _ = OwnedThread("interrupted feeds") { [weak self] in
            while let signal = self?.signal, let isWaiting = self?.resumeAll() {
                signal.wait(timeout: isWaiting ? Self.pause : nil)
            }
        }
    }

    /// Tries to continue the interrupted feeds that are due.
    /// - Returns: whether some must be tried again; nil after ``stop()``.
    private func resumeAll() -> Bool? {
        let now = ContinuousClock.now
        let due = state.withLock { state in
            defer { state.interrupted.removeAll { $0.due <= now } }
            return state.interrupted.filter { $0.due <= now }
        }
        for feed in due {
            guard !state.withLock({ $0.isStopped }) else { return nil }
            resume(feed)
        }
        return state.withLock { $0.isStopped ? nil : !$0.interrupted.isEmpty }
    }

    private func resume(_ feed: Feed) {
        let record = feed.record
        do {
            let batch = try client.store.facts(of: record.batch)
            guard let batch, !batch.sealed, !batch.cancelled else { return lists.remove(record) }
            let options = SubmittedOptions(record.options, outputs: outputs)
            let command = try SubmitCommand.parsing(
                [lists.location(of: record.list), "--resume", record.batch.description] + options.readingArguments)
            _ = try begin(command, Locked(feed))
            logger.info("continues to feed a list", [.batch: .text(record.batch.description)])
        } catch {
            failed(feed, error)
        }
    }

    /// Tries a feed that has failed again later, or gives it up.
    private func failed(_ feed: Feed, _ error: any Error) {
        // After a stop, the next start continues the feed.
        guard !state.withLock({ $0.isStopped }) else { return }
        var feed = feed
        feed.due = .now
        // All places for feeds are taken, or Redis is away.
        var continues = DarkroomError(error, "feed a list").isTransient
        if let error = error as? PhotoListError, error.code == .unreadable {
            feed.due += Self.pause * (1 << feed.failures)
            feed.failures += 1
            continues = feed.failures < Self.mostFailures
        }
        let about: LogMetadata = [.batch: .text("\(feed.record.batch)"), "detail": .text("\(error)")]
        if continues {
            logger.warning("a feed is interrupted, tries again", about)
            state.withLock { $0.interrupted.append(feed) }
        } else {
            logger.error("cannot feed a list to its end", about)
            lists.remove(feed.record)
        }
    }

    /// Stops all feeds. They continue at the next start.
    func stop() {
        let coordinators = state.withLock { state in
            state.isStopped = true
            return Array(state.coordinators.values)
        }
        for coordinator in coordinators { coordinator.stop() }
        signal.raise()
        // The feeds end on their threads; an operation that is being fed is added completely or not at all.
    }

    private func submit(_ request: ListSubmission.Request) throws -> BatchID {
        var given = request.options
        // A feed that continues must take the same photos.
        if given.contains(where: { $0.name == "sample" }), !given.contains(where: { $0.name == "seed" }) {
            given.append(("seed", String(Int.random(in: 1...999_999_999))))
        }
        let options = SubmittedOptions(given, outputs: outputs)
        let list = request.upload == nil ? .url(request.list) : try lists.take(upload: request.list)
        do {
            let command = try SubmitCommand.parsing([lists.location(of: list)] + options.arguments())
            let feed = Locked<Feed?>(nil)
            return try begin(command, feed) { [self, given] id in
                let record = ListStore.Record(batch: id, list: list, options: given)
                feed.withLock { $0 = Feed(record: record) }
                do {
                    try lists.write(record)
                } catch {
                    logger.error(
                        "cannot keep a list, a restart of this server will not continue its feed",
                        [.batch: .text(id.description), "detail": .text("\(error)")])
                }
            }.waitUntilBegun()
        } catch {
            lists.remove(list)
            // The client knows an uploaded list by its name, not by its path on this machine.
            let error =
                error is CommandError || error is ValidationError
                ? DarkroomError(.invalidOptions, "submit a list", "\(error)") : DarkroomError(error, "submit a list")
            let message = error.message.replacing(lists.location(of: list), with: request.name)
            throw DarkroomError(error.code, error.attempted, message, cause: error.cause)
        }
    }

    /// Starts a feed.
    /// - Parameters:
    ///   - feed: What fails or ends; nil until the batch of a new feed has an id.
    ///   - onBegun: Called on the feeding thread with the id of the batch.
    private func begin(
        _ command: SubmitCommand, _ feed: Locked<Feed?>, onBegun: @escaping @Sendable (BatchID) -> Void = { _ in }
    ) throws -> BatchFeed {
        let logger = logger
        let coordinator = client.coordinator { notice in
            logger.warning("a notice about a feed", ["detail": .text(notice.description)])
        }
        try add(coordinator)
        do {
            let photos = try command.reading.open(
                command.list, output: nil, command.reading.selection(), mayBePrivate: mayBePrivate,
                limits: ListLimits { [weak self] in self?.state.withLock { $0.isStopped } ?? true }
            ) { logger.info("a remark about a list", ["detail": .text($0)]) }
            return try command.begin(
                photos, client, coordinator,
                onEnd: { [self] result in end(coordinator, feed.withLock { $0 }, result) }, onBegun: onBegun)
        } catch {
            remove(coordinator)
            throw error
        }
    }

    private func add(_ coordinator: Coordinator) throws {
        try state.withLock { state in
            let refusal =
                state.isStopped
                ? "this server is stopping; submit this list when it runs again"
                : "this server feeds \(Self.mostFeeds) lists already; submit this list when one of them is fed"
            guard !state.isStopped, state.coordinators.count < Self.mostFeeds else {
                throw DarkroomError(.busy, "submit a list", refusal)
            }
            state.coordinators[ObjectIdentifier(coordinator)] = coordinator
        }
    }

    private func remove(_ coordinator: Coordinator) {
        state.withLock { $0.coordinators[ObjectIdentifier(coordinator)] = nil }
    }

    private func end(_ coordinator: Coordinator, _ feed: Feed?, _ result: Result<BatchFacts, any Error>) {
        remove(coordinator)
        defer { signal.raise() }  // an interrupted feed may now have a place
        guard let feed else { return }
        switch result {
        case .success: lists.remove(feed.record)
        case .failure(let error): failed(feed, error)
        }
    }
}

extension SubmitCommand {
    /// Parses arguments that a user of the server has sent.
    /// - Throws: ``DarkroomError`` with the code `invalidOptions`, without the usage of the command.
    fileprivate static func parsing(_ arguments: [String]) throws -> SubmitCommand {
        do throws(CommandExit) {
            return try parse(arguments)
        } catch {
            let problems = error.standardError.split(separator: "\n").filter { $0.hasPrefix("error: ") }
            throw DarkroomError(
                .invalidOptions, "submit a list", problems.map { String($0.dropFirst(7)) }.joined(separator: "; "))
        }
    }
}
