import Darkroom
import DarkroomCoding
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// The webhook calls of workers, and the priority of worker threads.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct WorkerDeliveryTests {
    private func secretFile(_ text: String, mode: Int = 0o600) throws -> (scratch: ScratchFolder, path: String) {
        let scratch = try ScratchFolder()
        let path = try scratch.write("secret", text)
        chmod(path, mode_t(mode))
        return (scratch, path)
    }

    private func worker(_ queue: Queue, _ arguments: [String], environment: [String: String] = [:]) throws -> Program {
        try Program(
            ["worker", "--namespace", queue.namespace] + arguments,
            environment: queue.environment.merging(environment) { $1 })
    }

    @Test func deliversASignedWebhookWithoutAProxy() async throws {
        let queue = try Queue()
        let server = try HostileServer(["/hook": .answer()])
        let proxy = try HostileServer([:])
        defer {
            server.stop()
            proxy.stop()
        }
        let (scratch, path) = try secretFile("open sesame\n")
        defer { withExtendedLifetime(scratch) {} }
        let address = "http://127.0.0.1:\(proxy.port)"
        let worker = try worker(
            queue, ["--webhook-hosts", "hooks.example.org,127.0.0.1:\(server.port)", "--webhook-secret-file", path],
            environment: ["http_proxy": address, "all_proxy": address, "ALL_PROXY": address])
        let id = try queue.submit(["NO URL"]) { $0.webhook = server.url("/hook") }
        #expect(await server.wait { $0.requests["/hook"] == 1 })
        worker.send(SIGTERM)
        let outcome = try worker.outcome()
        #expect(outcome.status == 0 && !outcome.standardError.contains("webhook options"))
        #expect(proxy.log.heads.isEmpty)
        let head = try #require(server.log.heads.first)
        let timestamp = try #require(head.firstMatch(of: /Darkroom-Timestamp: (\d+)/)?.1)
        let code = HMACSHA256.code(
            of: Array("\(timestamp).".utf8) + server.log.bodies[0], secret: Array("open sesame".utf8))
        #expect(head.contains("Darkroom-Signature: sha256=\(Hexadecimal.text(code))"))
        #expect(head.contains("Darkroom-Delivery: \(id).1"))
    }

    @Test func secretComesFromTheEnvironmentToo() async throws {
        let queue = try Queue()
        let server = try HostileServer(["/hook": .answer()])
        defer { server.stop() }
        let worker = try worker(
            queue, ["--webhook-hosts", "127.0.0.1:\(server.port)"], environment: ["DARKROOM_WEBHOOK_SECRET": "s"])
        try queue.submit(["NO URL"]) { $0.webhook = server.url("/hook") }
        #expect(await server.wait { $0.requests["/hook"] == 1 })
        worker.send(SIGTERM)
        _ = try worker.outcome()
        #expect(server.log.heads[0].contains("Darkroom-Signature: sha256="))
    }

    @Test func unusableSecretIsAnError() throws {
        let queue = try Queue()
        let missing = try worker(queue, ["--webhook-secret-file", "/nowhere/secret"]).outcome()
        #expect(missing.status == 1 && missing.standardError.contains("/nowhere/secret: No such file or directory"))
        let (scratch, path) = try secretFile("\n")
        defer { withExtendedLifetime(scratch) {} }
        let empty = try worker(queue, ["--webhook-secret-file", path]).outcome()
        #expect(empty.status == 1 && empty.standardError.contains("it is empty"))
        let both = try worker(
            queue, ["--webhook-secret-file", path], environment: ["DARKROOM_WEBHOOK_SECRET": "s"]
        ).outcome()
        #expect(both.status == 1 && both.standardError.contains("choose one"))
        #expect(!both.standardError.contains("\"s\""))
    }

    @Test func warnsOfASecretThatOthersMayRead() throws {
        let queue = try Queue()
        let (scratch, path) = try secretFile("open sesame", mode: 0o644)
        defer { withExtendedLifetime(scratch) {} }
        let worker = try worker(queue, ["--webhook-secret-file", path, "--thread-priority", "0.2"])
        try worker.waitFor("may read it; chmod o=")
        try worker.waitFor("worker started")
        worker.send(SIGTERM)
        let outcome = try worker.outcome()
        #expect(outcome.status == 0 && !outcome.standardError.contains("sesame"))
    }
}
