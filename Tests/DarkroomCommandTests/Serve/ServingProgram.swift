import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

/// A process of `darkroom serve`.
final class ServingProgram {
    static let token = "0123456789abcdef-token"

    let queue: Queue
    let program: Program
    let port: UInt16
    let scratch: ScratchFolder

    /// The folder into which batches write.
    var outputs: String { scratch.path("outputs") }

    /// Starts the server on a free port, with a token.
    /// - Parameters:
    ///   - arguments: further arguments.
    ///   - cache: the folder of the server.
    ///   - environment: further variables.
    init(
        _ queue: Queue, _ arguments: String..., scratch: ScratchFolder? = nil, cache: String? = nil,
        environment: [String: String] = [:], in mounts: MountNamespace? = nil
    ) throws {
        self.queue = queue
        let scratch = try scratch ?? ScratchFolder()
        self.scratch = scratch
        for name in ["outputs", "cache"] where !scratch.exists(name) {
            try FileManager.default.createDirectory(
                atPath: scratch.path(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let token = try scratch.write("token", Self.token + "\n")
        program = try Program(
            [
                "serve", "--listen", "127.0.0.1:0", "--token-file", token, "--outputs-under", scratch.path("outputs"),
                "--cache",
                cache ?? scratch.path("cache"), "--namespace", queue.namespace, "--allow-private",
            ] + arguments, environment: queue.environment.merging(environment) { $1 }, in: mounts)
        try program.waitFor("Darkroom is at http://", in: .standardOutput)
        let printed = try String(contentsOf: program.folder.appendingPathComponent("out"), encoding: .utf8)
        port = try #require(printed.firstMatch(of: #/127\.0\.0\.1:(\d+)//#).flatMap { UInt16($0.1) })
    }

    deinit { program.send(SIGKILL) }

    func call(
        _ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8] = []
    ) throws -> HTTPReply {
        let login = ["Authorization": "Bearer \(Self.token)"]
        return try #require(
            try RawClient.reply(
                method, "/api/v1" + path, port: port, headers: login.merging(headers) { $1 }, body: body))
    }

    /// The JSON object of a reply.
    func object(_ method: String, _ path: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(call(method, path).body)) as? [String: Any])
    }

    /// Submits a batch whose photos are developed, with these bytes as their files.
    func show(_ files: [Data]) throws -> BatchID {
        let folder = outputs + "/batch"
        let id = try queue.submit(files.indices.map { "http://photos.example/\($0)" }) {
            $0.output = folder
            $0.operationSize = files.count
        }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try queue.develop("F")
        try FileManager.default.copyItem(atPath: queue.folder + "/manifest", toPath: folder + "/manifest")
        for (index, file) in files.enumerated() {
            try file.write(to: URL(fileURLWithPath: folder + "/photo \(index).jpg"))
        }
        return id
    }

    /// Asks for the thumbnails of these photos at the same time.
    func thumbnails(_ count: Int, of batch: BatchID) throws -> [HTTPReply] {
        let clients = try (0..<count).map { index in
            let client = try RawClient(port: port)
            client.send(
                "GET /api/v1/batches/\(batch)/photos/\(index)/thumbnail HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                    + "Authorization: Bearer \(Self.token)\r\n\r\n")
            return client
        }
        return try clients.map { try #require(HTTPReply($0.readBytes(timeout: 60))) }
    }

    /// The peak memory use of the process, in bytes.
    func mostMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(program.identifier)/status", encoding: .utf8)
        let kilobytes = try #require(status.firstMatch(of: #/VmHWM:\s+(\d+) kB/#).flatMap { Int($0.1) })
        return kilobytes << 10
    }
}
