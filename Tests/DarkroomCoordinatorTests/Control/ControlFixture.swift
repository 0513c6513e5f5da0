import DarkroomCoding
import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import StoreInspection
import Testing

@testable import DarkroomCoordinator

/// The batches of one test in a real Redis server, and a controller for them.
struct ControlFixture {
    let store: BatchStore
    let control: BatchController

    init() throws {
        let redis = RedisServer.current
        store = BatchStore(redis.configuration, keys: try Keys(namespace: redis.namespace()))
        control = BatchController(store: store)
    }

    /// A batch id; the ids sort in the order of their numbers.
    static func id(_ number: Int) -> BatchID { BatchID("20261121-090501\(String(number + 1000).suffix(3))-7f3a")! }

    /// Submits batch `number` and feeds it.
    @discardableResult
    func submit(
        _ number: Int, photos: Int = 10, seal: Bool = true, _ change: (inout BatchOptions) -> Void = { _ in }
    ) throws -> BatchID {
        var options = BatchOptions()
        options.operationSize = 10
        change(&options)
        let id = Self.id(number)
        let urls = (0..<photos).map { "http://photos.example/\($0)" }
        try store.submitBatch(id, options, urls: urls, overwrite: false, seal: seal)
        return id
    }

    /// Claims operations as the worker named `worker`.
    func claim(_ number: Int = 1, worker: String = "worker") throws -> [ClaimedOperation] {
        guard case .claimed(let claimed) = try store.perform(store.claim(worker: worker, number: number)) else {
            Issue.record("claim \(number) was old")
            return []
        }
        return claimed.operations
    }

    /// Claims and reports all queued operations. The photos of an operation take the state codes in `stateCodes` in
    /// turn.
    func develop(_ stateCodes: String, worker: String = "worker") throws {
        let pattern = Array(stateCodes.utf8)
        var number = 0
        while true {
            number += 1
            let operations = try claim(number, worker: worker)
            guard !operations.isEmpty else { return }
            for operation in operations {
                let news = operation.stateCodes.indices.map { pattern[$0 % pattern.count] }
                _ = try store.perform(
                    store.report(operation.held, worker: worker, stateCodes: news, bytesIn: 1, bytesOut: 1))
            }
        }
    }

    func facts(_ id: BatchID) throws -> BatchFacts { try #require(try store.facts(of: id)) }

    func stateCodes(_ id: BatchID) throws -> String {
        String(decoding: try store.stateCodes(of: id, in: 0..<facts(id).photos), as: UTF8.self)
    }
}

/// The `CoordinatorError` that `body` throws; without an error the test fails.
func refusal(_ body: () throws -> Void) -> CoordinatorError? {
    do {
        try body()
        Issue.record("no error was thrown")
        return nil
    } catch {
        return error as? CoordinatorError
    }
}
