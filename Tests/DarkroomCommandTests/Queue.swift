import Darkroom
import DarkroomConcurrency
import DarkroomStorage
import DarkroomStore
import DarkroomTestSupport
import Foundation
import StoreInspection
import Testing

/// A namespace of one test in a real Redis server. Feeds batches, claims operations, and runs the program there.
final class Queue: Sendable {
    let redis: RedisServer
    let namespace: String
    let client: DarkroomClient
    /// An output folder that is deleted with this queue.
    var folder: String { scratch.path }
    private let scratch: ScratchFolder
    private let claims = Locked(0)

    init(_ redis: RedisServer = .current) throws {
        self.redis = redis
        namespace = redis.namespace()
        client = DarkroomClient(RedisLocation(redis.configuration, try Keys(namespace: namespace)))
        scratch = try ScratchFolder()
    }

    var store: BatchStore { client.store }

    /// The environment of the program: the address of Redis.
    var environment: [String: String] { ["DARKROOM_REDIS": redis.configuration.displayName] }

    /// Runs the program on this queue.
    func run(_ arguments: String...) throws -> Program.Outcome {
        try Program(arguments + ["--namespace", namespace], environment: environment).outcome()
    }

    /// Starts the program on this queue, with `mounts`.
    func start(_ arguments: String..., in mounts: MountNamespace? = nil) throws -> Program {
        try Program(arguments + ["--namespace", namespace], environment: environment, in: mounts)
    }

    /// Feeds a batch as a coordinator does, and creates its manifest folder.
    @discardableResult
    func submit(
        _ urls: [String], seal: Bool = true, _ change: (inout BatchOptions) -> Void = { _ in }
    ) throws -> BatchID {
        var options = BatchOptions()
        options.output = folder
        change(&options)
        let id = try store.newBatchID()
        if !options.output.isEmpty {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(ManifestPath.folder(id))", withIntermediateDirectories: true)
        }
        try store.submitBatch(id, options, urls: urls, seal: seal)
        return id
    }

    private func nextClaim() -> Int {
        claims.withLock { number in
            number += 1
            return number
        }
    }

    /// Claims operations as the worker named `worker`.
    func claim(_ worker: String = "tester", number: Int = 1, operations: Int = 16) throws -> [ClaimedOperation] {
        let claim = store.claim(worker: worker, number: number, operations: operations)
        guard case .claimed(let claimed) = try store.perform(claim) else {
            Issue.record("Redis rejected claim \(number) as old")
            return []
        }
        return claimed.operations
    }

    /// Claims operations and reports them. Their photos take the state codes in turn. Also writes the manifest.
    func develop(_ stateCodes: String, writesManifest: Bool = true) throws {
        let pattern = Array(stateCodes.utf8)
        for operation in try claim(number: nextClaim()) {
            let facts = try #require(try store.facts(of: operation.held.batch))
            let first = (operation.held.number - 1) * facts.options.operationSize
            let records = try OperationEntry.records(of: operation.entry, firstIndex: first)
            let newCodes = records.map { pattern[$0.index % pattern.count] }
            var text: [UInt8] = []
            var failures: [(index: Int, json: [UInt8])] = []
            for (record, stateCode) in zip(records, newCodes) {
                let state = try #require(PhotoState(stateCode: stateCode))
                guard state.isFinal else { continue }
                var line = ManifestLine(batch: operation.held.batch, record: record, state: state)
                if state == .filtered { line.file = "\(record.name).jpg" } else { line.detail = "found nothing" }
                line.append(to: &text)
                if state != .filtered {
                    let json = "{\"name\":\"\(record.name)\",\"url\":\"\(record.url)\",\"detail\":\"found nothing\"}"
                    failures.append((record.index, Array(json.utf8)))
                }
            }
            if writesManifest {
                let name = ManifestPath.fileName(
                    operation: operation.held.number, fencingToken: operation.held.fencingToken)
                let path = "\(folder)/\(ManifestPath.folder(operation.held.batch))/\(name)"
                #expect(FileManager.default.createFile(atPath: path, contents: Data(text)))
            }
            _ = try store.perform(
                store.report(
                    operation.held, worker: "tester", stateCodes: newCodes, bytesIn: 1000 * records.count,
                    bytesOut: 500 * records.count, failures: failures))
        }
    }
}
