import ArgumentParsing
import Darkroom
import DarkroomConcurrency
import DarkroomCoordinator
import DarkroomFiles
import DarkroomLists
import DarkroomLogging
import DarkroomWeb
import Foundation

/// Feeds the lists that users of `darkroom serve` submit.
///
/// The files in the folder `lists` outlive the process: an uploaded list, and a record with the id of its batch and the
/// options. The record is on the disk before the batch is submitted under this id. Therefore a server that was stopped
/// or killed at any time continues its submissions and feeds at the next start, and no batch is without its list.
final class ListFeeds: Sendable {
    struct State {
        var coordinators: [ObjectIdentifier: Coordinator] = [:]
        /// The feeds whose lists are in memory.
        var inMemory: Set<ObjectIdentifier> = []
        /// The number of requests whose batch is not submitted yet.
        var beginning = 0
        /// The feeds that were interrupted and must continue, and the lists that must be withdrawn.
        var interrupted: [Feed] = []
        var isStopped = false
    }

    struct Feed {
        var record: ListStore.Record
        /// How often reading the list has failed.
        var failures = 0
        /// When an interrupted feed is tried again.
        var due = ContinuousClock.now
        /// Whether the batch was missing in Redis when the feed was started.
        var wasMissing = false
        /// How often the batch of a withdrawn list was removed or found missing.
        var withdrawals = 0
    }

    /// Each feed has three threads and up to 4 MiB of operations that Redis has not accepted yet. A feed that waits for
    /// its window has fewer than a hundred operations.
    static let mostFeeds = 128
    /// The largest number of feeds of JSON documents and property lists. Each of these feeds holds its list in memory, which
    /// takes about one and a half times the size of the list.
    static let mostInMemory = 16
    /// Each of these requests has a thread of the web server until its list has begun.
    private static let mostBeginning = 8
    /// How long a client waits if Redis does not accept its batch.
    private static let patience = Duration.seconds(3)
    /// The time between two attempts to continue feeds. It doubles with each failure to read the list.
    static let pause = Duration.seconds(10)
    /// The feed of a list that cannot be read is given up after this number of attempts, which take one and a half
    /// hours.
    static let mostFailures = 10

    let client: DarkroomClient
    /// The folder into which batches write.
    let outputs: String
    private let mayBePrivate: Bool
    let logger: Logger
    let lists: ListStore
    let state = Locked(State())
    let signal = Signal()

    /// - Parameters:
    ///   - scratch: The folder of the server.
    ///   - mayBePrivate: Whether lists may come from private addresses.
    init(_ client: DarkroomClient, in scratch: String, outputs: String, mayBePrivate: Bool, logger: Logger) throws {
        self.client = client
        self.outputs = outputs
        self.mayBePrivate = mayBePrivate
        self.logger = logger
        lists = try ListStore(in: scratch, logger: logger)
    }

    var submission: ListSubmission {
        ListSubmission(fields: SubmittedOptions.fields, outputs: outputs) { [self] in try submit($0) }
    }

    /// The Redis server and the namespace of the batches, for records.
    var redis: String { "\(client.location) \(client.location.keys.prefix)" }

    var folders: SubmittedFolders { SubmittedFolders(outputs: outputs, store: client.store, logger: logger) }

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

    // MARK: - Submitting

    private func submit(_ request: ListSubmission.Request) throws -> BatchID {
        try enter()
        defer { state.withLock { $0.beginning -= 1 } }
        var given = request.options
        // A feed that continues must take the same photos.
        if given.contains(where: { $0.name == "sample" }), !given.contains(where: { $0.name == "seed" }) {
            given.append(("seed", String(Int.random(in: 1...999_999_999))))
        }
        let arguments = try SubmittedOptions(given, outputs: outputs).arguments()
        let id = BatchID(submittedAt: try client.store.time())
        let list = try request.upload == nil ? .url(request.list) : keeping { try lists.take(upload: request.list) }
        let record = ListStore.Record(batch: id, list: list, name: request.name, options: given, redis: redis)
        let feed = Locked<Feed?>(nil)
        let wasSent = Locked(false)
        do {
            let command = try SubmitCommand.parsing([lists.location(of: list)] + arguments)
            try keeping { try lists.write(record) }
            return try begin(command, feed, as: id, within: Self.patience) {
                guard !request.clientHasLeft() else { throw ClientHasLeft() }
                wasSent.withLock { $0 = true }
            } onBegun: { _ in
                feed.withLock { $0 = Feed(record: record) }
            }.waitUntilBegun()
        } catch {
            // The client knows an uploaded list by its name, not by its path on this machine.
            let told = Self.told(error)
            let message = told.message.replacing(lists.location(of: list), with: request.name)
            drop(record, because: message, mayExist: wasSent.withLock { $0 }, isAway: told.code == .redisUnreachable)
            throw DarkroomError(told.code, told.attempted, message, cause: told.cause)
        }
    }

    /// Counts a request that begins. ``submit(_:)`` counts its end.
    private func enter() throws {
        try state.withLock { state in
            guard !state.isStopped else { throw Self.busy(Self.stopping) }
            guard state.beginning < Self.mostBeginning else {
                throw Self.busy(
                    "this server is receiving \(Self.mostBeginning) other lists; submit this list again in a moment")
            }
            state.beginning += 1
        }
    }

    /// The error that a client gets if its list is not submitted.
    private static func told(_ error: any Error) -> DarkroomError {
        if error is CommandError || error is ValidationError {
            return DarkroomError(.invalidOptions, "submit a list", "\(error)")
        }
        if let error = error as? CoordinatorError, error.code == .stopped { return busy(stopping) }
        return DarkroomError(error, "submit a list")
    }

    /// Calls `body`, which writes to the folder of the server.
    /// - Throws: ``DarkroomError`` with the code `busy`: a later attempt can succeed.
    private func keeping<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as SystemFailure {
            throw Self.busy("this server cannot keep the list: \(error.text); nothing was submitted")
        }
    }

    private static let stopping = "this server is stopping; submit this list when it runs again"

    private static func busy(_ message: String) -> DarkroomError { DarkroomError(.busy, "submit a list", message) }

    // MARK: - Feeding

    /// Starts a feed.
    /// - Parameters:
    ///   - feed: What fails or ends; nil until the batch of a new feed is submitted.
    ///   - id: The id of a new batch; nil if the command names the batch.
    ///   - limit: How long Redis may refuse a new batch; nil for the patience of the coordinator.
    ///   - beforeTrying: Called on the feeding thread before each attempt to submit a new batch.
    ///   - onBegun: Called on the feeding thread when the batch is submitted.
    func begin(
        _ command: SubmitCommand, _ feed: Locked<Feed?>, as id: BatchID? = nil, within limit: Duration? = nil,
        beforeTrying: @escaping @Sendable () throws -> Void = {},
        onBegun: @escaping @Sendable (BatchID) -> Void = { _ in }
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
            if photos.list.format.isReadWhole { try countInMemory(coordinator) }
            return try command.begin(
                photos, client, coordinator, as: id, within: limit, beforeTrying: beforeTrying,
                onEnd: { [self] result in end(coordinator, feed.withLock { $0 }, result) }
            ) { [self] id in
                onBegun(id)
                makeFolders(for: id, command)
            }
        } catch {
            remove(coordinator)
            throw error
        }
    }

    /// Creates the folders of a new batch before its first photo is fed.
    private func makeFolders(for batch: BatchID, _ command: SubmitCommand) {
        guard let output = command.output else { return }
        folders.make(output: output, originals: command.files.originals ?? "", for: batch)
    }

    private func add(_ coordinator: Coordinator) throws {
        try state.withLock { state in
            guard !state.isStopped else { throw Self.busy(Self.stopping) }
            guard state.coordinators.count < Self.mostFeeds else {
                throw Self.busy(
                    "this server feeds \(Self.mostFeeds) lists already; submit this list when one of them is fed")
            }
            state.coordinators[ObjectIdentifier(coordinator)] = coordinator
        }
    }

    private func countInMemory(_ coordinator: Coordinator) throws {
        try state.withLock { state in
            guard state.inMemory.count < Self.mostInMemory else {
                throw Self.busy(
                    "this server feeds \(Self.mostInMemory) JSON documents and property lists already, which it holds "
                        + "in memory; submit this list when one of them is fed, or as CSV, JSONL or text")
            }
            state.inMemory.insert(ObjectIdentifier(coordinator))
        }
    }

    private func remove(_ coordinator: Coordinator) {
        state.withLock { state in
            state.coordinators[ObjectIdentifier(coordinator)] = nil
            state.inMemory.remove(ObjectIdentifier(coordinator))
        }
    }

    private func end(_ coordinator: Coordinator, _ feed: Feed?, _ result: Result<BatchFacts, any Error>) {
        remove(coordinator)
        defer { signal.raise() }  // an interrupted feed may now have a place
        guard let feed else { return }
        switch result {
        case .success(let batch): lists.remove(feed.record, because: batch.cancelled ? Self.cancelled : Self.fed)
        case .failure(let error): failed(feed, error)
        }
    }

    static let fed = "the whole list is fed"
    static let cancelled = "the batch is cancelled"
}

/// The client of a submission has closed its connection before its batch was submitted.
private struct ClientHasLeft: Error, CustomStringConvertible {
    let description = "the client closed its connection before the list was submitted; nothing was submitted"
}

extension SubmitCommand {
    /// Parses arguments that a user of the server has sent.
    /// - Throws: ``DarkroomError`` with the code `invalidOptions`, without the usage of the command.
    static func parsing(_ arguments: [String]) throws -> SubmitCommand {
        do throws(CommandExit) {
            return try parse(arguments)
        } catch {
            let problems = error.standardError.split(separator: "\n").filter { $0.hasPrefix("error: ") }
            throw DarkroomError(
                .invalidOptions, "submit a list", problems.map { String($0.dropFirst(7)) }.joined(separator: "; "))
        }
    }
}
