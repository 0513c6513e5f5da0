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
        var interrupted: [ListStore.Record] = []
        var isStopped = false
    }

    /// Each feed has a thread and a connection.
    private static let mostFeeds = 8
    /// The time between two attempts to continue feeds.
    private static let pause = Duration.seconds(10)

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
        state.withLock { $0.interrupted = lists.records() }
        // Nobody waits for the end of the thread, because the server of a list may not answer.
        _ = OwnedThread("interrupted feeds") { [weak self] in
            while let signal = self?.signal, let isWaiting = self?.resumeAll() {
                signal.wait(timeout: isWaiting ? Self.pause : nil)
            }
        }
    }

    /// Tries to continue all interrupted feeds.
    /// - Returns: whether some must be tried again; nil after ``stop()``.
    private func resumeAll() -> Bool? {
        for record in state.withLock({ $0.interrupted }) {
            guard !state.withLock({ $0.isStopped }) else { return nil }
            guard !resume(record) else { continue }
            state.withLock { $0.interrupted.removeAll { $0.batch == record.batch } }
        }
        return state.withLock { $0.isStopped ? nil : !$0.interrupted.isEmpty }
    }

    /// Continues a feed.
    /// - Returns: whether it must be tried again.
    private func resume(_ record: ListStore.Record) -> Bool {
        do {
            let batch = try client.store.facts(of: record.batch)
            guard let batch, !batch.sealed, !batch.cancelled else {
                lists.remove(record)
                return false
            }
            let options = SubmittedOptions(record.options, outputs: outputs)
            let command = try SubmitCommand.parsing(
                [lists.location(of: record.list), "--resume", record.batch.description] + options.readingArguments)
            _ = try begin(command) { _ in record }
            logger.info("continues to feed a list", [.batch: .text(record.batch.description)])
            return false
        } catch {
            let error = DarkroomError(error, "continue to feed a list")
            // All places for feeds are taken, Redis is away, or the server of the list is.
            if error.isTransient { return true }
            logger.error(
                "cannot continue to feed a list", [.batch: .text("\(record.batch)"), "detail": .text("\(error)")])
            return error.code == .listUnreadable
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
            return try begin(command) { [self, given] id in
                let record = ListStore.Record(batch: id, list: list, options: given)
                do {
                    try lists.write(record)
                } catch {
                    logger.error(
                        "cannot keep a list, a restart of this server will not continue its feed",
                        [.batch: .text(id.description), "detail": .text("\(error)")])
                }
                return record
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
    /// - Parameter onBegun: Called on the feeding thread with the id of the batch. Returns the record to remove when the
    ///   feed is complete.
    private func begin(
        _ command: SubmitCommand, onBegun: @escaping @Sendable (BatchID) -> ListStore.Record
    ) throws -> BatchFeed {
        let logger = logger
        let coordinator = client.coordinator { notice in
            logger.warning("a notice about a feed", ["detail": .text(notice.description)])
        }
        try add(coordinator)
        let begun = Locked<ListStore.Record?>(nil)
        do {
            let photos = try command.reading.open(
                command.list, output: nil, command.reading.selection(), mayBePrivate: mayBePrivate,
                webLimits: WebListLimits { [weak self] in self?.state.withLock { $0.isStopped } ?? true }
            ) { logger.info("a remark about a list", ["detail": .text($0)]) }
            return try command.begin(
                photos, client, coordinator,
                onEnd: { [self] result in end(coordinator, begun.withLock { $0 }, result) }
            ) { id in
                let record = onBegun(id)
                begun.withLock { $0 = record }
            }
        } catch {
            remove(coordinator)
            throw error
        }
    }

    private func add(_ coordinator: Coordinator) throws {
        let isAdded = state.withLock { state in
            guard !state.isStopped, state.coordinators.count < Self.mostFeeds else { return false }
            state.coordinators[ObjectIdentifier(coordinator)] = coordinator
            return true
        }
        guard isAdded else {
            throw DarkroomError(
                .busy, "submit a list",
                "this server feeds \(Self.mostFeeds) lists already; submit this list when one of them is fed")
        }
    }

    private func remove(_ coordinator: Coordinator) {
        state.withLock { $0.coordinators[ObjectIdentifier(coordinator)] = nil }
    }

    private func end(_ coordinator: Coordinator, _ record: ListStore.Record?, _ result: Result<BatchFacts, any Error>) {
        remove(coordinator)
        defer { signal.raise() }  // an interrupted feed may now have a place
        guard let record else { return }
        switch result {
        case .success: lists.remove(record)
        case .failure(let error as CoordinatorError) where error.code == .stopped: break
        case .failure(let error):
            logger.error(
                "cannot feed a list to its end",
                [.batch: .text("\(record.batch)"), "detail": .text("\(error)")])
            if DarkroomError(error, "feed a list").isTransient {
                // Redis was away for too long.
                state.withLock { $0.interrupted.append(record) }
            } else {
                lists.remove(record)
            }
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
