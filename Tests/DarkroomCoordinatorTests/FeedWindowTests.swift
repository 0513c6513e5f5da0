import DarkroomStore
import Testing

@testable import DarkroomCoordinator

@Suite struct FeedWindowTests {
    @Test func sendsFullPipelinesUnlessPartialOnesAreAllowed() {
        var window = FeedWindow(confirmed: 0)
        #expect(window.next(packed: 31, allowsPartial: false) == .wait)
        #expect(window.next(packed: 32, allowsPartial: false) == .send(1...32))
        #expect(window.next(packed: 33, allowsPartial: false) == .wait)
        #expect(window.next(packed: 33, allowsPartial: true) == .send(33...33))
        #expect(window.next(packed: 33, allowsPartial: true) == .wait)
    }

    @Test func limitsOperationsInFlight() {
        var window = FeedWindow(confirmed: 0)
        for first in stride(from: 1, through: FeedWindow.most, by: FeedWindow.pipeline) {
            #expect(window.next(packed: 5000, allowsPartial: true) == .send(first...first + FeedWindow.pipeline - 1))
        }
        #expect(window.next(packed: 5000, allowsPartial: true) == .wait)
        window.replied(.fed, to: 1)
        #expect(window.next(packed: 5000, allowsPartial: true) == .send(1025...1025))
    }

    @Test func continuesFromTheFirstRefusedOperationAfterAllReplies() {
        var window = FeedWindow(confirmed: 0)
        #expect(window.next(packed: 4, allowsPartial: true) == .send(1...4))
        window.replied(.fed, to: 1)
        window.replied(.full, to: 2)
        window.replied(.expects(2), to: 3)
        #expect(window.next(packed: 4, allowsPartial: true) == .wait)
        window.replied(.expects(2), to: 4)
        #expect(window.next(packed: 4, allowsPartial: true) == .pause)
        window.resume()
        #expect(window.next(packed: 4, allowsPartial: true) == .send(2...2))
        window.replied(.fed, to: 2)
        #expect(window.next(packed: 4, allowsPartial: true) == .send(3...4))
        #expect(window.confirmed == 2)
    }

    @Test func asksRedisForTheNextOperationAfterALostConnection() {
        var window = FeedWindow(confirmed: 7)
        #expect(window.next(packed: 10, allowsPartial: true) == .send(8...10))
        for number in 8...10 { window.failed(number) }
        #expect(window.next(packed: 10, allowsPartial: true) == .query)
        window.redisExpects(10)
        #expect(window.confirmed == 9)
        #expect(window.next(packed: 10, allowsPartial: true) == .send(10...10))
    }

    @Test func acceptsThatAnotherFeederIsAhead() {
        var window = FeedWindow(confirmed: 0)
        #expect(window.next(packed: 2, allowsPartial: true) == .send(1...2))
        window.replied(.expects(6), to: 1)
        window.replied(.expects(6), to: 2)
        #expect(window.confirmed == 5)
        #expect(window.next(packed: 4, allowsPartial: true) == .wait)
        #expect(window.next(packed: 6, allowsPartial: true) == .send(6...6))
    }

    @Test func restartsWhenRedisHasLostConfirmedOperations() {
        var window = FeedWindow(confirmed: 5)
        #expect(window.next(packed: 6, allowsPartial: true) == .send(6...6))
        window.replied(.expects(3), to: 6)
        #expect(window.next(packed: 6, allowsPartial: true) == .restart)

        window = FeedWindow(confirmed: 5)
        #expect(window.next(packed: 6, allowsPartial: true) == .send(6...6))
        window.failed(6)
        window.redisExpects(5)
        #expect(window.next(packed: 6, allowsPartial: true) == .restart)
    }

    @Test(arguments: [FeedReply.gone, .sealed, .short]) func failsAfterAFinalRefusal(reply: FeedReply) {
        var window = FeedWindow(confirmed: 0)
        #expect(window.next(packed: 1, allowsPartial: true) == .send(1...1))
        window.replied(reply, to: 1)
        #expect(window.next(packed: 1, allowsPartial: true) == .fail(reply))
    }
}
