import Darkroom
import DarkroomConcurrency
import DarkroomCoordinator
import DarkroomFiles
import DarkroomLists
import DarkroomLogging
import DarkroomHTTP

/// A list that a client submits, and the other fields of its form.
struct SubmittedList: Sendable {
    /// The path of an uploaded file, or a URL.
    let location: String
    /// The uploaded file, which is removed with the last reference to this object; nil for a URL.
    let upload: UploadedFile?
    /// The name of the list in messages.
    let name: String
    /// The fields, by their names in ``SubmittedFields/names``.
    let fields: [(name: String, value: String)]
    /// Whether the client has closed its connection. If so, its list is not submitted.
    let clientHasLeft: @Sendable () -> Bool
}

/// Submits and feeds the lists that clients of the web server send.
///
/// For each feed, the folder `lists` contains files that outlive the process: an uploaded list, and a record with the
/// id of the batch and the options. The record is on the disk before the batch is submitted under this id. Therefore a
/// server that was stopped or killed at any time continues its submissions and feeds at the next start, and each batch
/// still has its list.
package final class ListFeeds: Sendable {
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
        /// The number of failures to read the list.
        var failures = 0
        /// The time at which an interrupted feed is tried again.
        var due = ContinuousClock.now
        /// Whether the batch was missing in Redis when the feed was started.
        var wasMissing = false
        /// The number of times that the batch of a withdrawn list was removed or found missing.
        var withdrawals = 0
    }

    /// The largest number of feeds. Each feed has three threads and up to 4 MiB of operations that Redis has not
    /// accepted yet. A feed that waits for its window has fewer than a hundred operations.
    static let mostFeeds = 128
    /// The largest number of feeds of JSON documents and property lists. Each of these feeds holds its list in memory, which
    /// takes about one and a half times the size of the list.
    static let mostInMemory = 16
    /// The largest number of requests whose batch is not submitted yet. Each of them occupies a thread of the web
    /// server.
    private static let mostBeginning = 8
    /// The time that a client waits if Redis does not accept its batch.
    private static let patience = Duration.seconds(3)
    /// The time between two attempts to continue feeds. The time doubles with each failure to read the list.
    static let pause = Duration.seconds(10)
    /// The feed of a list that cannot be read is given up after this number of attempts, which take one and a half
    /// hours.
    static let mostFailures = 10

    let client: DarkroomClient
    /// The folder into which batches write.
    package let outputs: String
    private let mayBePrivate: Bool
    let logger: Logger
    let lists: ListStore
    let state = Locked(State())
    let signal = Signal()

    /// - Parameters:
    ///   - scratch: The folder of the server.
    ///   - mayBePrivate: Whether lists may come from private addresses.
    package init(
        _ client: DarkroomClient, in scratch: String, outputs: String, mayBePrivate: Bool, logger: Logger
    ) throws {
        self.client = client
        self.outputs = outputs
        self.mayBePrivate = mayBePrivate
        self.logger = logger
        lists = try ListStore(in: scratch, logger: logger)
    }

    /// The Redis server and the namespace of the batches, as records contain them.
    var redis: String { "\(client.location) \(client.location.keys.prefix)" }

    var folders: SubmittedFolders { SubmittedFolders(outputs: outputs, store: client.store, logger: logger) }

    /// Stops all feeds. They continue at the next start.
    package func stop() {
        let coordinators = state.withLock { state in
            state.isStopped = true
            return Array(state.coordinators.values)
        }
        for coordinator in coordinators { coordinator.stop() }
        signal.raise()
        // The feeds end on their threads; an operation that is being fed is added completely or not at all.
    }

    // MARK: - Submitting

    /// Submits a list. Returns as soon as the batch exists; the list is then fed in the background.
    func submit(_ request: SubmittedList) throws -> BatchID {
        try enter()
        defer { state.withLock { $0.beginning -= 1 } }
        var given = request.fields
        // A feed that continues must take the same photos.
        if given.contains(where: { $0.name == "sample" }), !given.contains(where: { $0.name == "seed" }) {
            given.append(("seed", String(PhotoList.newSeed())))
        }
        var submission: Submission
        do {
            submission = try SubmittedFields(given: given, outputs: outputs).submission(of: request.location)
        } catch {
            throw Self.told(error)
        }
        let id = BatchID(submittedAt: try client.store.time())
        let list =
            try request.upload == nil ? .url(request.location) : keeping { try lists.take(upload: request.location) }
        submission.list.location = lists.location(of: list)
        let record = ListStore.Record(batch: id, list: list, name: request.name, fields: given, redis: redis)
        let feed = Locked<Feed?>(nil)
        let wasSent = Locked(false)
        do {
            try keeping { try lists.write(record) }
            return try begin(submission, feed, as: id, within: Self.patience) {
                guard !request.clientHasLeft() else { throw ClientHasLeft() }
                wasSent.withLock { $0 = true }
            } onBegun: {
                feed.withLock { $0 = Feed(record: record) }
            }.waitUntilBegun()
        } catch {
            // The client knows an uploaded list by its name, not by its path on this machine.
            let told = Self.told(error)
            let problem = told.problem.replacing(lists.location(of: list), with: request.name)
            drop(record, because: problem, mayExist: wasSent.withLock { $0 }, isAway: told.code == .redisUnreachable)
            throw DarkroomError(told.code, told.attempted, problem, told.remedies, cause: told.cause)
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
        if let error = error as? FieldError {
            return DarkroomError(
                .invalidOptions, "submit a list", error.message(SubmittedFields.name(of:)), cause: error)
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

    /// Starts the feed of a new batch.
    /// - Parameters:
    ///   - submission: A checked form.
    ///   - feed: Holds the feed to handle when feeding ends; nil until the batch of a new feed is submitted.
    ///   - id: The id of the batch.
    ///   - limit: The time for which Redis may refuse the batch; nil for the patience of the coordinator.
    ///   - beforeTrying: Called on the feeding thread before each attempt to submit the batch.
    ///   - onBegun: Called on the feeding thread when the batch is submitted.
    func begin(
        _ submission: Submission, _ feed: Locked<Feed?>, as id: BatchID, within limit: Duration? = nil,
        beforeTrying: @escaping @Sendable () throws -> Void = {}, onBegun: @escaping @Sendable () -> Void = {}
    ) throws -> BatchFeed {
        try open(submission.list) { [self] photos, coordinator in
            try client.feed(
                submission.resolved(in: client), photos, coordinator, as: id, within: limit,
                beforeTrying: beforeTrying, onEnd: { [self] in end(coordinator, feed.withLock { $0 }, $0) }
            ) { [self] id in
                onBegun()
                // The folders exist before the first photo is fed.
                folders.make(output: submission.output, originals: submission.originals, for: id)
            }
        }
    }

    /// Starts the feed of the rest of a batch.
    func continueFeed(_ feed: Feed, from list: PhotoList) throws {
        _ = try open(list) { [self] photos, coordinator in
            client.feedRest(
                of: feed.record.batch, photos, coordinator, onEnd: { [self] in end(coordinator, feed, $0) }
            ) { _ in }
        }
    }

    /// Opens a list, and starts its feed.
    private func open(
        _ list: PhotoList, start: (SelectedPhotos, Coordinator) throws -> BatchFeed
    ) throws -> BatchFeed {
        let logger = logger
        let coordinator = client.coordinator { notice in
            logger.warning("a notice about a feed", ["detail": .text(notice.description)])
        }
        try add(coordinator)
        do {
            let photos = try list.open(
                except: nil, list.selection(), mayBePrivate: mayBePrivate,
                limits: ListLimits { [weak self] in self?.state.withLock { $0.isStopped } ?? true }
            ) { logger.info("a remark about a list", ["detail": .text($0.description)]) }
            if photos.list.format.isReadWhole { try countInMemory(coordinator) }
            return try start(photos, coordinator)
        } catch {
            remove(coordinator)
            throw error
        }
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
