import DarkroomModel
import Testing

@testable import Darkroom

/// The events for an observer that reads more slowly than events arrive.
@Suite(.timeLimit(.minutes(5))) struct EventBufferTests {
    private func event(_ time: Int) -> ClusterUpdate { .event(BatchEvent(.submitted, time: time)) }

    @Test func deliversEventsInOrder() async {
        let buffer = EventBuffer(capacity: 10)
        buffer.add(.subscribed)
        for time in 0..<9 { buffer.add(event(time)) }
        #expect(await buffer.next() == .subscribed)
        for time in 0..<9 { #expect(await buffer.next() == event(time)) }
    }

    @Test func countsMissedEventsAtTheirPosition() async {
        let buffer = EventBuffer(capacity: 3)
        for time in 0..<8 { buffer.add(event(time)) }
        #expect(await buffer.next() == .missed(5))
        #expect(await buffer.next() == event(5))
        buffer.add(event(8))
        for time in 6..<9 { #expect(await buffer.next() == event(time)) }
    }

    @Test func wakesAWaitingReader() async {
        let buffer = EventBuffer(capacity: 3)
        async let next = buffer.next()
        buffer.add(event(1))
        #expect(await next == event(1))
    }

    @Test func endsWhenItsTaskIsCancelled() async {
        let buffer = EventBuffer(capacity: 3)
        let task = Task { await buffer.next() }
        task.cancel()
        #expect(await task.value == nil)
        buffer.add(event(1))
        #expect(await buffer.next() == nil, "the end is final")
    }
}
