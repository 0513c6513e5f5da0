import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

@Suite(.redisServer) struct BacklogTests {
    private static let urls = (0..<10).map { "http://photos.example/\($0)" }

    @Test func countsThePhotosThatWorkersCouldRun() throws {
        let queue = try Queue()
        #expect(try backlog(queue) == (0, [:]))
        try queue.submit(Self.urls) { $0.priority = .high }
        let other = try queue.submit(Array(Self.urls.prefix(4)))
        #expect(try backlog(queue) == (14, ["high": 10, "normal": 4]))
        for part in [QueuePart.everything, .downloads] {
            _ = try queue.client.control.suspend(other, part)
            #expect(try backlog(queue) == (10, ["high": 10]))
            _ = try queue.client.control.resume(other, part)
            _ = try queue.client.control.suspend(nil, part)
            #expect(try backlog(queue) == (0, [:]))
            _ = try queue.client.control.resume(nil, part)
        }
        _ = try queue.client.control.cancel(other)
        #expect(try backlog(queue) == (10, ["high": 10]))
        try queue.develop("FFFFFaaaaa", writesManifest: false)
        #expect(try backlog(queue) == (0, [:]))
    }

    /// The number in `status --json` and in the command of the documentation, and the numbers of the priorities.
    private func backlog(_ queue: Queue) throws -> (Int, [String: Int]) {
        let status = try #require(try queue.run("status", "--json").json() as? [String: Any])
        let backlog = try #require(status["backlog"] as? [String: Any])
        let parts = try #require(backlog["priorities"] as? [[String: Any]])
        let photos = try #require(backlog["photos"] as? Int)
        #expect(try documented(queue) == photos)
        let numbers = parts.compactMap { part in
            (part["priority"] as? String).flatMap { name in (part["photos"] as? Int).map { (name, $0) } }
        }
        for part in parts { #expect(part["oldestSeconds"] is NSNull == (part["photos"] as? Int == 0)) }
        return (photos, Dictionary(numbers.filter { $0.1 > 0 }) { $1 })
    }

    /// Evaluates the script in the line of redis-cli that the documentation shows.
    private func documented(_ queue: Queue) throws -> Int? {
        let page = TestFiles.package.appendingPathComponent("Sources/Surfaces/Darkroom/Darkroom.docc/WebServer.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let match = try #require(text.firstMatch(of: #/redis-cli EVAL "([^"]+)" 0 '\{darkroom\}'/#))
        let prefix = String(queue.store.keys.prefix.dropLast())
        return try queue.store.connection.call(.init("EVAL", String(match.output.1), "0", prefix)).int
    }
}
