import Darkroom
import DarkroomRedis
import DarkroomTestSupport
import Foundation

@testable import DarkroomStore

/// Records the commands that workers send to a redis-server, each with its time by the clock of the server. Uses
/// MONITOR, which runs until the server ends.
final class RedisTraffic {
    private let process: BoundProcess
    private let log: String
    private let scripts: [String: String]
    private var position: UInt64 = 0
    private var rest = ""
    /// The times of the claims and reports of each worker, in seconds since 1970.
    private var lastWork: [String: [Double]] = [:]
    /// The number of operations whose lease expired.
    private(set) var recovered = 0

    /// Starts MONITOR, and waits until it is active.
    init(of redis: RedisServer) throws {
        log = redis.folder + "/monitor-\(UUID().uuidString).log"
        guard case .unix(let socket) = redis.configuration.address else {
            preconditionFailure("every test server has a socket")
        }
        process = try BoundProcess(["redis-cli", "-s", socket, "MONITOR"], log: log)
        scripts = [StoreScripts.claim.sha1: "claim", StoreScripts.report.sha1: "report"]
        let deadline = ContinuousClock.now + .seconds(20)
        while FileManager.default.contents(atPath: log).map({ $0.starts(with: Array("OK".utf8)) }) != true {
            guard .now < deadline else { throw TortureFailure("redis-cli MONITOR does not respond, see \(log)") }
            usleep(2000)
        }
    }

    deinit { process.stop() }

    /// The current time in seconds since 1970. The server runs on this machine, so it has the same clock.
    static var now: Double { Date().timeIntervalSince1970 }

    /// Waits until each of these workers has claimed or reported since `moment`.
    /// - Returns: for each worker the time from `moment` to its first claim or report.
    func waitForWork(of workers: [String], since moment: Double, within timeout: Duration) throws -> [Duration] {
        let deadline = moment + timeout / .seconds(1)
        while true {
            try read()
            let first = workers.map { worker in lastWork[worker]?.first { $0 >= moment } }
            if !first.contains(nil) { return first.compactMap { $0.map { .milliseconds(Int(($0 - moment) * 1000)) } } }
            guard Self.now < deadline else {
                let missing = zip(workers, first).filter { $0.1 == nil }.map(\.0)
                throw TortureFailure("no claim or report within \(timeout) of \(missing)")
            }
            usleep(5000)
        }
    }

    /// `1700000000.123456 [0 127.0.0.1:40000] "EVALSHA" "<SHA-1>" "1" "{namespace}:" "<worker>" ...`
    private func read() throws {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: log))
        defer { try? file.close() }  // the file was only read
        try file.seek(toOffset: position)
        let bytes = try file.readToEnd() ?? Data()
        position += UInt64(bytes.count)
        var lines = (rest + String(decoding: bytes, as: UTF8.self)).split(
            separator: "\n", omittingEmptySubsequences: false)
        rest = lines.popLast().map(String.init) ?? ""
        for line in lines {
            let head = line.prefix(300)
            if head.contains("\"PUBLISH\""), head.contains("\\\"event\\\":\\\"recovered\\\"") { recovered += 1 }
            let words = head.split(separator: "\"", omittingEmptySubsequences: false)
            guard words.count > 9, words[1] == "EVALSHA", scripts[String(words[3])] != nil,
                let time = words[0].split(separator: " ").first.flatMap({ Double($0) })
            else { continue }
            lastWork[String(words[9]), default: []].append(time)
        }
    }
}
