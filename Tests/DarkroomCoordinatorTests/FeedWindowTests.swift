import DarkroomStore
import Testing

@testable import DarkroomCoordinator

@Suite struct FeedWindowTests {
    @Test func sendsWholePipelinesUnlessUrgent() {
        var window = FeedWindow(confirmed: 0)
        #expect(window.next(packed: 31, isUrgent: false) == .wait)
        #expect(window.next(packed: 32, isUrgent: false) == .send(1...32))
        #expect(window.next(packed: 33, isUrgent: false) == .wait)
        #expect(window.next(packed: 33, isUrgent: true) == .send(33...33))
        #expect(window.next(packed: 33, isUrgent: true) == .wait)
    }

    @Test func boundsWhatIsOnItsWay() {
        var window = FeedWindow(confirmed: 0)
        for first in stride(from: 1, through: FeedWindow.most, by: FeedWindow.pipeline) {
            #expect(window.next(packed: 5000, isUrgent: true) == .send(first...first + FeedWindow.pipeline - 1))
        }
        #expect(window.next(packed: 5000, isUrgent: true) == .wait)
        window.replied(.fed, to: 1)
        #expect(window.next(packed: 5000, isUrgent: true) == .send(1025...1025))
    }

    @Test func goesOnFromTheFirstThatWasRefusedWhenAllHasComeBack() {
        var window = FeedWindow(confirmed: 0)
        #expect(window.next(packed: 4, isUrgent: true) == .send(1...4))
        window.replied(.fed, to: 1)
        window.replied(.full, to: 2)
        window.replied(.expects(2), to: 3)
        #expect(window.next(packed: 4, isUrgent: true) == .wait)
        window.replied(.expects(2), to: 4)
        #expect(window.next(packed: 4, isUrgent: true) == .pause)
        window.resume()
        #expect(window.next(packed: 4, isUrgent: true) == .send(2...2))
        window.replied(.fed, to: 2)
        #expect(window.next(packed: 4, isUrgent: true) == .send(3...4))
        #expect(window.confirmed == 2)
    }

    @Test func asksAfterALostConnection() {
        var window = FeedWindow(confirmed: 7)
        #expect(window.next(packed: 10, isUrgent: true) == .send(8...10))
        for number in 8...10 { window.failed(number) }
        #expect(window.next(packed: 10, isUrgent: true) == .ask)
        window.redisExpects(10)
        #expect(window.confirmed == 9)
        #expect(window.next(packed: 10, isUrgent: true) == .send(10...10))
    }

    @Test func takesThatAnotherFeederIsAhead() {
        var window = FeedWindow(confirmed: 0)
        #expect(window.next(packed: 2, isUrgent: true) == .send(1...2))
        window.replied(.expects(6), to: 1)
        window.replied(.expects(6), to: 2)
        #expect(window.confirmed == 5)
        #expect(window.next(packed: 4, isUrgent: true) == .wait)
        #expect(window.next(packed: 6, isUrgent: true) == .send(6...6))
    }

    @Test func startsAgainWhenRedisHasLostConfirmedOperations() {
        var window = FeedWindow(confirmed: 5)
        #expect(window.next(packed: 6, isUrgent: true) == .send(6...6))
        window.replied(.expects(3), to: 6)
        #expect(window.next(packed: 6, isUrgent: true) == .restart)

        window = FeedWindow(confirmed: 5)
        #expect(window.next(packed: 6, isUrgent: true) == .send(6...6))
        window.failed(6)
        window.redisExpects(5)
        #expect(window.next(packed: 6, isUrgent: true) == .restart)
    }

    @Test(arguments: [FeedReply.gone, .sealed, .short]) func givesUp(reply: FeedReply) {
        var window = FeedWindow(confirmed: 0)
        #expect(window.next(packed: 1, isUrgent: true) == .send(1...1))
        window.replied(reply, to: 1)
        #expect(window.next(packed: 1, isUrgent: true) == .give(up: reply))
    }
}
