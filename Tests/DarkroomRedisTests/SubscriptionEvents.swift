import DarkroomConcurrency
import DarkroomRedis
import Foundation
import Testing

/// The events of a subscription; `next` waits for the next event.
final class SubscriptionEvents: Sendable {
    private let waiting = Locked<[RedisSubscriptionEvent]>([])
    private let arrived = DispatchSemaphore(value: 0)

    @Sendable func add(_ event: RedisSubscriptionEvent) {
        waiting.withLock { $0.append(event) }
        arrived.signal()
    }

    func next() throws -> RedisSubscriptionEvent {
        try #require(arrived.wait(timeout: .now() + 20) == .success, "no event arrived")
        return waiting.withLock { $0.removeFirst() }
    }

    func nextLoss() throws -> RedisError {
        let event = try next()
        guard case .disconnected(let error) = event else { throw Unexpected(event: event) }
        return error
    }

    struct Unexpected: Error { let event: RedisSubscriptionEvent }
}
