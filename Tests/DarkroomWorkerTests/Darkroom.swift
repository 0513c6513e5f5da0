import DarkroomCoding
import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomRedis
import DarkroomStorage
import DarkroomStore
import DarkroomTestSupport
import DarkroomWorkerState
import Foundation
import StoreInspection
import Testing
import WorkerSupport

@testable import DarkroomWorker

/// The configuration and the hooks of a worker. The settings of the configuration are also properties of this type.
@dynamicMemberLookup struct WorkerSetup {
    var configuration = PhotoWorkerConfiguration.local()
    var hooks = WorkerHooks()
    var observer: WorkerObserver?

    subscript<Value>(dynamicMember setting: WritableKeyPath<PhotoWorkerConfiguration, Value>) -> Value {
        get { configuration[keyPath: setting] }
        set { configuration[keyPath: setting] = newValue }
    }

    mutating func addFilter(_ name: String, _ make: @escaping @Sendable () -> any CustomFilter) throws {
        try configuration.addFilter(name, make)
    }

    mutating func addFilter(_ command: FilterCommand) { configuration.addFilter(command) }
}

/// The environment of one test: a namespace in Redis, an output folder, and functions that submit and check batches.
final class Darkroom: Sendable {
    let redis: RedisServer
    let keys: Keys
    let store: BatchStore
    var folder: String { scratch.path }
    private let scratch: ScratchFolder
    let lines = Locked<[String]>([])
    private let observed = NSCondition()

    init(_ redis: RedisServer) throws {
        self.redis = redis
        keys = try Keys(namespace: redis.namespace())
        store = BatchStore(redis.configuration, keys: keys)
        scratch = try ScratchFolder()
    }

    /// Options of a batch whose output folder is the folder of this test.
    func options(_ change: (inout BatchOptions) -> Void = { _ in }) -> BatchOptions {
        var options = BatchOptions()
        options.output = folder
        options.fileName = "{index}-{name}"
        change(&options)
        return options
    }

    /// Submits and seals a batch, as a coordinator does.
    func submit(_ urls: [String], _ options: BatchOptions, makesFolder: Bool = true) throws -> BatchID {
        let id = try store.newBatchID()
        if makesFolder, !options.output.isEmpty {
            try FileManager.default.createDirectory(
                atPath: options.output + "/" + ManifestPath.folder(id), withIntermediateDirectories: true)
        }
        try store.submitBatch(id, options, urls: urls) { _, url in
            url.split(separator: "/").last.map(String.init) ?? url
        }
        return id
    }

    /// A logger of level `debug`. ``lines`` holds the text of every event.
    var logger: Logger { Logger(label: "test", level: .debug, handler: TestLog(darkroom: self)) }

    private struct TestLog: LogHandler {
        let darkroom: Darkroom
        func log(_ event: LogEvent) { darkroom.note(event.text()) }
    }

    /// Creates a worker in this namespace without starting it. By default, the worker logs to ``logger``.
    func worker(
        redis configured: RedisConfiguration? = nil, logger: Logger? = nil,
        _ change: (inout WorkerSetup) throws -> Void = { _ in }
    ) throws -> Worker {
        var setup = WorkerSetup()
        try change(&setup)
        return try Worker(
            redis: configured ?? redis.configuration, keys: keys, configuration: setup.configuration,
            hooks: setup.hooks, observer: setup.observer, logger: logger ?? self.logger)
    }

    /// Runs a worker in this namespace during `body`. See ``worker(redis:logger:_:)``.
    @discardableResult
    func withWorker<Value>(
        redis: RedisConfiguration? = nil, logger: Logger? = nil,
        _ change: (inout WorkerSetup) throws -> Void = { _ in }, run body: (Worker) throws -> Value
    ) throws -> Value {
        try [worker(redis: redis, logger: logger, change)].run { try body($0[0]) }
    }

    /// Runs a worker in this namespace during `body`. See ``worker(redis:logger:_:)``.
    @discardableResult
    func withWorker<Value>(
        redis: RedisConfiguration? = nil, logger: Logger? = nil,
        _ change: (inout WorkerSetup) throws -> Void = { _ in }, run body: (Worker) async throws -> Value
    ) async throws -> Value {
        try await [worker(redis: redis, logger: logger, change)].run { try await body($0[0]) }
    }

    /// Creates several equal workers in this namespace without starting them.
    func workers(
        _ count: Int, redis: RedisConfiguration? = nil, _ change: (inout WorkerSetup) throws -> Void = { _ in }
    ) throws -> [Worker] {
        try (0..<count).map { _ in try worker(redis: redis, change) }
    }

    /// Appends a line of the log to ``lines``.
    private func note(_ line: String) {
        observed.lock()
        lines.withLock { $0.append(line) }
        observed.broadcast()
        observed.unlock()
    }

    /// Waits until workers have logged `count` lines with `text`.
    func waitForLog(_ text: String, count: Int = 1, seconds: Double = 20) {
        let deadline = Date(timeIntervalSinceNow: seconds)
        observed.lock()
        defer { observed.unlock() }
        while lines.withLock({ $0.count { $0.contains(text) } }) < count {
            guard observed.wait(until: deadline) else {
                Issue.record(
                    "\"\(text)\" was not logged \(count) times within \(seconds) s: \(lines.withLock { $0 })")
                return
            }
        }
    }

    /// Polls Redis until the batch satisfies `condition`.
    @discardableResult
    func wait(
        _ id: BatchID, _ awaited: String = "finished", within seconds: Int = 60,
        until condition: (BatchFacts) -> Bool = { $0.state == .finished }
    ) throws -> BatchFacts {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while true {
            let facts = try #require(try store.facts(of: id))
            if condition(facts) { return facts }
            guard .now < deadline else {
                Issue.record("batch \(id) is not \(awaited) within \(seconds) s: \(facts)")
                return facts
            }
            // Polls, since Redis does not report every change. The blocking read waits 20 ms before the next poll.
            _ = try store.connection.call(.init("BLPOP", keys.prefix + "nothing", "0.02"))
        }
    }

    /// The manifest lines of a batch by photo index. For each operation, reads only the file with the highest fencing
    /// token.
    func manifest(of id: BatchID, in output: String? = nil) throws -> [Int: ManifestLine] {
        let folder = "\(output ?? folder)/\(ManifestPath.folder(id))"
        var newest: [Int: (fencingToken: Int, path: String)] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            let name = path.split(separator: "/").last.map(String.init) ?? ""
            guard let (operation, fencingToken) = ManifestPath.parse(fileName: name) else { continue }
            if fencingToken > newest[operation]?.fencingToken ?? 0 { newest[operation] = (fencingToken, path) }
        }
        var lines: [Int: ManifestLine] = [:]
        for (_, path) in newest.values {
            let text = try #require(FileManager.default.contents(atPath: "\(folder)/\(path)"))
            for line in text.split(separator: 10) {
                let line = try JSONDecoder().decode(ManifestLine.self, from: line)
                #expect(lines.updateValue(line, forKey: line.index) == nil, "photo \(line.index) has two lines")
            }
        }
        return lines
    }

    /// Checks the invariant of a finished batch: state codes, counters, manifest and files agree.
    func check(_ id: BatchID) throws {
        let facts = try #require(try store.facts(of: id))
        let stateCodes = try store.stateCodes(of: id, in: 0..<facts.photos)
        let lines = try manifest(of: id)
        #expect(stateCodes.count == facts.photos)
        #expect(stateCodes.count { $0 == UInt8(ascii: "F") } == facts.counts.filtered)
        #expect(stateCodes.count { FailureReason(stateCode: $0) != nil } == facts.counts.failed)
        #expect(facts.failures.values.reduce(0, +) == facts.counts.failed)
        #expect(facts.counts.new == 0 && facts.counts.downloaded == 0)
        #expect(facts.executing == 0 && facts.operationsEnded == facts.operations)
        #expect(lines.count == facts.photos)
        let renditions = facts.options.renditions.isEmpty ? [""] : facts.options.renditions.map(\.name)
        for (index, stateCode) in stateCodes.enumerated() {
            let line = try #require(lines[index], "photo \(index) has no line")
            let state = try #require(PhotoState(stateCode: stateCode))
            #expect(line.state == state.word)
            #expect(line.files.map(\.rendition) == (state == .filtered ? renditions : []))
            for file in line.files {
                let path = try #require(file.file)
                let bytes = try #require(FileManager.default.contents(atPath: "\(folder)/\(path)"))
                #expect(bytes.count == file.bytes)
                #expect(Hexadecimal.text(SHA256Digest.hash(of: Array(bytes))) == file.sha256)
            }
        }
        let left = try FileManager.default.subpathsOfDirectory(atPath: folder).filter {
            $0.split(separator: "/").last?.hasPrefix(".") == true
        }
        #expect(left.isEmpty, "temporary files are left: \(left)")
    }
}
