import DarkroomConcurrency
import DarkroomRedis
import Foundation
import Testing

/// The results of commands that are on their way, to be waited for.
final class Answers: Sendable {
    private let results = Locked<[Result<RedisValue, RedisError>]>([])
    private let arrived = DispatchSemaphore(value: 0)

    init(of commands: [RedisCommand], on connection: RedisConnection) {
        connection.send(commands) { results in
            self.results.withLock { $0 = results }
            self.arrived.signal()
        }
    }

    func wait() throws -> [Result<RedisValue, RedisError>] {
        try #require(arrived.wait(timeout: .now() + 20) == .success, "the commands were not answered")
        return results.withLock { $0 }
    }
}

/// Waits until `count` clients of the server are blocked; the server says so, no clock does.
func waitUntilBlocked(_ count: Int, on connection: RedisConnection) throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while try connection.call(RedisCommand("INFO", "clients")).string?.contains("blocked_clients:\(count)") != true {
        try #require(ContinuousClock.now < deadline, "no \(count) blocked clients")
    }
}
