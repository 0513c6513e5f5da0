import Darkroom
import DarkroomRedis
import DarkroomTestSupport
import Foundation

@testable import DarkroomStore

/// Records the commands that workers send to redis-servers, each with its time by the clock of the server. Uses MONITOR,
/// which runs until the object is released.
final class RedisTraffic {
    private var monitors: [Monitor]
    private let scripts = [StoreScripts.shared.claim.sha1: "claim", StoreScripts.shared.report.sha1: "report"]
    /// The times of the claims and reports of each worker, in seconds since 1970.
    private var lastWork: [String: [Double]] = [:]
    /// The number of operations whose lease expired.
    private(set) var recovered = 0
    /// Whether the last batch has finished. Then idle workers neither claim nor report.
    private var hasFinished = false

    /// Starts MONITOR on each server, and waits until it is active.
    init(of servers: RedisServer...) throws {
        monitors = try servers.map { try Monitor(of: $0) }
        for place in monitors.indices { try monitors[place].waitUntilActive() }
    }

    deinit { for monitor in monitors { monitor.process.stop() } }

    /// The current time in seconds since 1970. The server runs on this machine, so it has the same clock.
    static var now: Double { Date().timeIntervalSince1970 }

    /// Waits until each of these workers has claimed or reported since `moment`. Returns earlier if the batch has finished.
    /// - Returns: the time from `moment` to the first claim or report, for each worker that has claimed or reported.
    func waitForWork(of workers: [String], since moment: Double, within timeout: Duration) throws -> [Duration] {
        let deadline = moment + timeout / .seconds(1)
        while true {
            try read()
            let first = workers.map { worker in lastWork[worker]?.first { $0 >= moment } }
            if hasFinished || !first.contains(nil) {
                return first.compactMap { $0.map { .milliseconds(Int(($0 - moment) * 1000)) } }
            }
            guard Self.now < deadline else {
                let missing = zip(workers, first).filter { $0.1 == nil }.map(\.0)
                throw TortureFailure("no claim or report within \(timeout) of \(missing)")
            }
            usleep(5000)
        }
    }

    private func read() throws {
        for place in monitors.indices { for line in try monitors[place].newLines() { note(line) } }
    }

    /// `1700000000.123456 [0 127.0.0.1:40000] "EVALSHA" "<SHA-1>" "1" "{namespace}:" "<worker>" ...`
    private func note(_ line: some StringProtocol) {
        let head = line.prefix(300)
        if head.contains("\"PUBLISH\"") {
            func isEvent(_ name: String) -> Bool { head.contains("\\\"event\\\":\\\"\(name)\\\"") }
            if isEvent("recovered") { recovered += 1 }
            if isEvent("submitted") { hasFinished = false }
            if isEvent("isFinished") { hasFinished = true }
        }
        let words = head.split(separator: "\"", omittingEmptySubsequences: false)
        guard words.count > 9, words[1] == "EVALSHA", scripts[String(words[3])] != nil,
            let time = words[0].split(separator: " ").first.flatMap({ Double($0) })
        else { return }
        lastWork[String(words[9]), default: []].append(time)
    }
}

/// The output of MONITOR of one server. If the connection ends, for example because a sentinel closes all connections to
/// a server whose role changes, MONITOR starts again.
private struct Monitor {
    private let arguments: [String]
    private let log: String
    private(set) var process: BoundProcess
    private var started = ContinuousClock.now
    private var position: UInt64 = 0
    private var rest = ""

    init(of redis: RedisServer) throws {
        guard case .unix(let socket) = redis.configuration.address else {
            preconditionFailure("every test server has a socket")
        }
        arguments = ["redis-cli", "-s", socket, "MONITOR"]
        log = redis.folder + "/monitor-\(UUID().uuidString).log"
        process = try BoundProcess(arguments, log: log)
    }

    mutating func waitUntilActive() throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while FileManager.default.contents(atPath: log).map({ $0.range(of: Data("OK\n".utf8)) != nil }) != true {
            guard .now < deadline else { throw TortureFailure("redis-cli MONITOR does not respond, see \(log)") }
            usleep(2000)
            try restartIfEnded()
        }
    }

    private mutating func restartIfEnded() throws {
        guard process.exitStatus != nil, ContinuousClock.now - started > .milliseconds(50) else { return }
        started = .now
        process = try BoundProcess(arguments, log: log)
    }

    /// The complete lines since the last call.
    mutating func newLines() throws -> [String] {
        try restartIfEnded()
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: log))
        defer { try? file.close() }  // the file was only read
        try file.seek(toOffset: position)
        let bytes = try file.readToEnd() ?? Data()
        position += UInt64(bytes.count)
        var lines = (rest + String(decoding: bytes, as: UTF8.self)).split(
            separator: "\n", omittingEmptySubsequences: false)
        rest = lines.popLast().map(String.init) ?? ""
        return lines.map(String.init)
    }
}
