import DarkroomConcurrency
import DarkroomRedis
import DarkroomTestSupport
import Foundation
import Testing

/// Sends commands; `wait` returns their results.
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

/// Waits until `INFO clients` of the server reports `count` blocked clients.
func waitUntilBlocked(_ count: Int, on connection: RedisConnection) throws {
    try waitUntil("the server reports \(count) blocked clients") {
        try connection.call(RedisCommand("INFO", "clients")).string?.contains("blocked_clients:\(count)") == true
    }
}
