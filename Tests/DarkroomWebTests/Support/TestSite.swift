import Darkroom
import DarkroomConcurrency
import DarkroomCoordinator
import DarkroomHTTP
import DarkroomLogging
import DarkroomModel
import DarkroomStorage
import DarkroomStore
import DarkroomTestSupport
import DarkroomWorker
import Foundation
import StoreInspection
import Testing
import WorkerSupport

@testable import DarkroomCommand
@testable import DarkroomWeb

/// A web server of one test, with its own namespace and folders.
final class TestSite: Sendable {
    static let token = "0123456789abcdef-token"
    static let samples = TestFiles.samples
    /// The program `darkroom`, which is the program of the helpers.
    static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        .appendingPathComponent("darkroom").path
    static let contract: APIContract = {
        let path = TestFiles.package.appendingPathComponent(
            "Sources/Surfaces/DarkroomWeb/Assets/openapi.json")
        guard let text = try? Data(contentsOf: path), let document = try? JSONValue(text) else {
            fatalError("\(path.path) is missing or no JSON")
        }
        return APIContract(document)
    }()

    let redis: RedisServer
    let client: DarkroomClient
    let server: WebServer
    private let feeds: ListFeeds
    private let folders: ScratchFolder
    let port: UInt16
    /// Names of operations and statuses of the replies so far: `GET /batches 200`.
    let seen = Locked(Set<String>())

    /// The folder into which batches write.
    var outputs: String { folders.path("outputs") }
    /// The folder of the server.
    var scratch: String { folders.path("server") }

    convenience init(
        _ redis: RedisServer = .current, fetchesPrivateLists: Bool = true, replyTimeout: Duration? = nil,
        _ change: (inout WebConfiguration) -> Void = { _ in }
    ) throws {
        var address = redis.configuration
        if let replyTimeout { address.replyTimeout = replyTimeout }
        let client = DarkroomClient(RedisLocation(address, try Keys(namespace: redis.namespace())))
        try self.init(redis, client, ScratchFolder(), fetchesPrivateLists, change)
    }

    private init(
        _ redis: RedisServer, _ client: DarkroomClient, _ folders: ScratchFolder, _ fetchesPrivateLists: Bool,
        _ change: (inout WebConfiguration) -> Void
    ) throws {
        self.redis = redis
        self.client = client
        self.folders = folders
        for name in ["outputs", "server"] {
            try FileManager.default.createDirectory(
                atPath: folders.path(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        feeds = try ListFeeds(
            client, in: folders.path("server"), outputs: folders.path("outputs"), mayBePrivate: fetchesPrivateLists,
            logger: .silent)
        var configuration = WebConfiguration(
            access: .token(Self.token), scratchFolder: folders.path("server"),
            helpers: WebServerOptions.helpers(program: Self.program))
        configuration.address = ListenAddress(host: "127.0.0.1", port: 0)
        configuration.photosUnder = [folders.path("outputs")]
        configuration.submission = feeds
        change(&configuration)
        server = try WebServer(client, configuration)
        port = try #require(server.url(withToken: true).firstMatch(of: #/:(\d+)//#).flatMap { UInt16($0.1) })
        feeds.resumeInterrupted()
    }

    deinit { stop() }

    func stop() {
        feeds.stop()
        server.stop()
    }

    /// Stops this server, and starts another with the same namespace and folders.
    func restarted() throws -> TestSite {
        stop()
        return try TestSite(redis, client, folders, true) { _ in }
    }

    /// Runs a worker on the namespace of this server during `body`.
    func withWorker(_ body: () throws -> Void) throws {
        let worker = try Worker(
            redis: redis.configuration, keys: client.location.keys,
            configuration: .local { $0.outputFolders = [outputs] },
            logger: .silent)
        try [worker].run { _ in try body() }
    }

    /// Submits a batch to Redis whose photos no worker develops.
    func submit(
        photos: Int = 3, seal: Bool = true, _ change: (inout BatchOptions) -> Void = { _ in }
    ) throws -> BatchID {
        var options = BatchOptions()
        options.output = outputs + "/\(UUID().uuidString)"
        options.operationSize = 10
        change(&options)
        let id = try client.store.newBatchID()
        try client.store.submitBatch(
            id, options, urls: (0..<photos).map { "http://photos.example/\($0).jpg" }, seal: seal)
        return id
    }

    /// Reports all photos of a batch as filtered.
    /// - Parameters:
    ///   - files: the files of the photos in the manifest; photo n has the element n.
    ///   - manifest: the content of the manifest file; nil for correct lines.
    func report(_ id: BatchID, files: [String], manifest: [UInt8]? = nil) throws {
        let store = client.store
        guard case .claimed(let claimed) = try store.perform(store.claim(worker: "tester", number: 1, operations: 16))
        else {
            Issue.record("the operations are not claimed")
            return
        }
        let output = try #require(try store.facts(of: id)).options.output
        for operation in claimed.operations {
            let first = (operation.held.number - 1) * 10
            let records = try OperationEntry.records(of: operation.entry, firstIndex: first)
            var text: [UInt8] = []
            for record in records {
                var line = ManifestLine(batch: id, record: record, state: .filtered)
                line.file = files[record.index]
                line.append(to: &text)
            }
            let name = ManifestPath.fileName(
                operation: operation.held.number, fencingToken: operation.held.fencingToken)
            let path = URL(fileURLWithPath: "\(output)/\(ManifestPath.folder(id))/\(name)")
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(manifest ?? text).write(to: path)
            _ = try store.perform(
                store.report(
                    operation.held, worker: "tester", stateCodes: records.map { _ in UInt8(ascii: "F") }, bytesIn: 1,
                    bytesOut: 1, failures: []))
        }
    }

    // MARK: - Requests

    /// Sends a request without a login.
    func fetch(
        _ method: String, _ target: String, headers: [String: String] = [:], body: [UInt8] = []
    ) throws -> HTTPReply {
        try #require(try RawClient.reply(method, target, port: port, headers: headers, body: body))
    }

    /// Calls the HTTP API with the token, and checks the reply against the OpenAPI document.
    /// - Parameters:
    ///   - path: relative to `/api/v1`.
    ///   - fields: a JSON object.
    @discardableResult
    func call(
        _ method: String, _ path: String, _ fields: String? = nil, headers: [String: String] = [:], body: [UInt8] = [],
        at location: SourceLocation = #_sourceLocation
    ) throws -> HTTPReply {
        var all = ["Authorization": "Bearer \(Self.token)"]
        if fields != nil { all["Content-Type"] = "application/json" }
        let target = APIContract.root + path
        let reply = try fetch(
            method, target, headers: all.merging(headers) { $1 }, body: fields.map { Array($0.utf8) } ?? body)
        let operation = try #require(Self.contract.operation(method, target), sourceLocation: location)
        let problems = Self.contract.problems(of: reply, to: operation)
        #expect(problems.isEmpty, "\(operation.name): \(problems.joined(separator: "; "))", sourceLocation: location)
        seen.withLock { _ = $0.insert("\(operation.name) \(reply.status)") }
        return reply
    }

    /// The JSON of a reply with the status 200.
    func json(
        _ method: String, _ path: String, _ fields: String? = nil, at location: SourceLocation = #_sourceLocation
    ) throws -> JSONValue {
        let reply = try call(method, path, fields, at: location)
        #expect(reply.status == 200, "\(reply.text)", sourceLocation: location)
        return try JSONValue(reply.body)
    }

    /// Opens the events of a batch.
    func events(of batch: String, _ query: String = "") throws -> RawClient {
        let client = try RawClient(port: port)
        client.send(
            "GET \(APIContract.root)/batches/\(batch)/events\(query) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                + "Authorization: Bearer \(Self.token)\r\n\r\n")
        return client
    }

    /// Waits until the events of a batch contain a text.
    func wait(for text: String, of batch: String, at location: SourceLocation = #_sourceLocation) throws {
        try events(of: batch).read(until: text, timeout: 20, at: location)
    }
}

/// A form in `multipart/form-data` with a file.
struct Form {
    var fields: [(name: String, value: String)]
    var list: String
    var fileName = "list.csv"

    var headers: [String: String] { ["Content-Type": "multipart/form-data; boundary=----frontier"] }

    var bytes: [UInt8] {
        let parts = fields.map { "Content-Disposition: form-data; name=\"\($0.name)\"\r\n\r\n\($0.value)\r\n" }
        let file =
            "Content-Disposition: form-data; name=\"file\"; filename=\"\(fileName)\"\r\nContent-Type: text/csv\r\n\r\n\(list)\r\n"
        return Array((parts + [file]).map { "------frontier\r\n" + $0 }.joined().utf8)
            + Array("------frontier--\r\n".utf8)
    }
}
