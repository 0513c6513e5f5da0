import Testing

@testable import DarkroomLogging

/// Repeated events: the limiter writes some of them and counts the others.
@Suite struct RepeatLimiterTests {
    private func event(_ photo: Int, _ key: String? = "k", level: LogLevel = .warning) -> LogEvent {
        LogEvent(level: level, label: "l", message: "m", metadata: [.photo: .number(photo)], key: key)
    }

    private func photos(_ lines: [RepeatLimiter.Line]) -> [String] {
        lines.map { "\($0.event.metadata.items.map { "\($0.value.kind)" }.joined())+\($0.leftOut)" }
    }

    @Test func writesTheFirstAtOnceThenOneASecondWithACount() {
        var limiter = RepeatLimiter()
        #expect(photos(limiter.take(event(1), time: 0, now: 100)) == ["integer(1)+0"])
        for now in [200, 500, 1099] { #expect(limiter.take(event(2), time: now, now: now).isEmpty) }
        // After a second the limiter writes the last repeat (2). The new event (3) waits for the next second.
        #expect(photos(limiter.take(event(3), time: 1100, now: 1100)) == ["integer(2)+2"])
        #expect(photos(limiter.due(now: 2200)) == ["integer(3)+0"])
        #expect(limiter.due(now: 3300).isEmpty && limiter.count == 0)
        #expect(photos(limiter.take(event(4), time: 3400, now: 3400)) == ["integer(4)+0"])
    }

    @Test func repeatAfterASecondHasTheCountOfOmittedEvents() {
        var limiter = RepeatLimiter()
        _ = limiter.take(event(0, "other"), time: 0, now: 0)
        _ = limiter.take(event(1), time: 0, now: 500)
        _ = limiter.take(event(2), time: 0, now: 900)
        _ = limiter.take(event(0, "other"), time: 0, now: 1100)  // writes due events; the others are not due
        #expect(photos(limiter.take(event(3), time: 0, now: 1600)) == ["integer(3)+1"])
    }

    @Test func onlyTheSameMessageIsARepeat() {
        var limiter = RepeatLimiter()
        let events = [event(1), event(1, "k2"), event(1, level: .info), event(1, nil), event(2, nil)]
        for event in events { #expect(limiter.take(event, time: 0, now: 0).count == 1) }
        for event in events { #expect(limiter.take(event, time: 0, now: 1).isEmpty) }
        #expect(limiter.all().count == 5 && limiter.count == 0)
    }

    @Test func floodOfDifferentMessagesNeedsBoundedMemoryAndLosesNoEvent() {
        var limiter = RepeatLimiter(capacity: 100)
        var total = 0
        for number in 0..<10_000 {
            for _ in 0..<2 {
                let lines = limiter.take(event(number, "\(number)"), time: 0, now: number / 100)
                total += lines.reduce(0) { $0 + 1 + $1.leftOut }
            }
            #expect(limiter.count <= 100)
        }
        total += limiter.all().reduce(0) { $0 + 1 + $1.leftOut }
        #expect(total == 20_000)
    }
}
