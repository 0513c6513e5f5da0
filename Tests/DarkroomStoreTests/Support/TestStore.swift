import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

/// A store with its own namespace, and helper functions of the tests.
final class TestStore {
    let store: BatchStore
    private let reader: StoreReader
    private var claims: [String: Int] = [:]

    init(_ server: RedisServer = .current) throws {
        store = BatchStore(server.configuration, keys: try Keys(namespace: server.namespace()))
        reader = StoreReader(store)
    }

    deinit { store.connection.close() }

    /// The content of the namespace. Records an issue for each violated invariant.
    func state(_ location: SourceLocation = #_sourceLocation) throws -> StoreState {
        let state = try reader.read()
        let violations = state.violations()
        #expect(violations == [], sourceLocation: location)
        return state
    }

    /// The content of one batch.
    func batch(_ id: BatchID, _ location: SourceLocation = #_sourceLocation) throws -> BatchContent {
        try #require(try state(location).batches[id], sourceLocation: location)
    }

    /// Submits a batch with `operations` full operations of `size` photos, sealed by default.
    @discardableResult
    func submit(
        _ name: String = "batch", size: Int = 3, operations: Int = 0, sealed: Bool = true, after: [BatchID] = [],
        _ change: (inout BatchOptions) -> Void = { _ in }
    ) throws -> BatchID {
        var options = BatchOptions()
        options.operationSize = size
        change(&options)
        let id = try #require(BatchID(name))
        let reply = try store.perform(store.submit(id, options, after: after))
        guard case .submitted = reply else { throw TestFailure(description: "submit of \(id): \(reply)") }
        let feeds = (1..<operations + 1).map { feeding(id, $0, photos: size) }
        #expect(try store.perform(feeds).allSatisfy { $0 == .fed })
        if sealed {
            #expect(try store.perform(store.seal(id, operations: operations, photos: operations * size)) == .sealed)
        }
        return id
    }

    /// The call that feeds operation `number`.
    func feeding(_ id: BatchID, _ number: Int, photos: Int) -> ScriptCall<FeedReply> {
        store.feed(id, operation: number, photos: photos, entry: [1, 2, 3], digest: "digest \(number)")
    }

    /// Claims operations for `worker`.
    func claim(
        _ worker: String = "worker", operations: Int = 16, photos: Int = 4000, held: [HeldOperation] = []
    ) throws -> [ClaimedOperation] {
        claims[worker, default: 0] += 1
        let call = store.claim(
            worker: worker, number: claims[worker]!, operations: operations, photos: photos, held: held)
        return try claimed(call).operations
    }

    /// Performs `call`. Returns the claimed operations, and the position in the ready queues where the next claim
    /// starts.
    func claimed(_ call: ScriptCall<ClaimReply>) throws -> (operations: [ClaimedOperation], next: String) {
        guard case .claimed(let claimed) = try store.perform(call) else {
            throw TestFailure(description: "the reply to the claim is OLD")
        }
        return (claimed.operations, claimed.next)
    }

    /// Reports an operation's photos as `stateCodes`.
    @discardableResult
    func report(_ held: HeldOperation, _ stateCodes: String, worker: String = "worker") throws -> ReportReply {
        try store.perform(
            store.report(held, worker: worker, stateCodes: Array(stateCodes.utf8), bytesIn: 0, bytesOut: 0))
    }

    /// Sends a heartbeat of `worker`, or a heartbeat without a worker.
    @discardableResult
    func heartbeat(_ worker: String? = nil, held: [HeldOperation] = []) throws -> [HeldOperation] {
        try store.perform(store.heartbeat(worker: worker, held: held)).lost
    }

    /// Advances the lease clock by `seconds`, as regular heartbeats do.
    func pass(seconds: Int) throws {
        _ = try command("HINCRBY", store.keys.control, "lease.clock", "\(seconds * 1000)")
    }

    /// Claims operations and reports all their photos as `stateCode`, until no operation can be claimed.
    func develop(_ stateCode: Character = "F", worker: String = "worker") throws {
        while true {
            let operations = try claim(worker)
            if operations.isEmpty { return }
            for operation in operations {
                try report(
                    operation.held, String(repeating: stateCode, count: operation.stateCodes.count), worker: worker)
            }
        }
    }

    /// Sends a plain command.
    @discardableResult
    func command(_ words: String...) throws -> RedisValue { try command(words) }

    @discardableResult
    func command(_ words: [String]) throws -> RedisValue {
        try store.connection.call(RedisCommand(arguments: words.map { Array($0.utf8) }))
    }
}

extension BatchContent {
    /// The state codes of an operation.
    func stateCodes(_ operation: Int) -> String { String(decoding: stateCodes[photos(of: operation)], as: UTF8.self) }
}
