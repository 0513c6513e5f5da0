import Testing

@testable import DarkroomTransfer

@Suite struct NetworkSharesTests {
    private let zero = ContinuousClock.now
    private func time(_ seconds: Int) -> ContinuousClock.Instant { zero + .seconds(seconds) }

    @Test func silencesOfALostConnectionCountOnce() {
        let peer = NetworkShares(threads: 1).join("a:443", zero)
        #expect(peer.countsSilence(begun: time(0), time(5)) && peer.countsSilence(begun: time(1), time(5)), "HTTP/1")
        peer.isMultiplexed = true
        let counts = [(0, 5), (1, 5), (4, 6), (7, 8)].map { peer.countsSilence(begun: time($0), time($1)) }
        #expect(counts == [true, false, false, true])
    }

    @Test func silenceDoesNotCountIfTheHostHasAnsweredOthers() {
        let peer = NetworkShares(threads: 1).join("a:443", zero)
        peer.isMultiplexed = true
        peer.answered(time(2))
        #expect(!peer.countsSilence(begun: time(1), time(5)))
        #expect(peer.countsSilence(begun: time(3), time(5)))
    }

    @Test func heldBodiesAreBounded() {
        let shares = NetworkShares(threads: 1)
        #expect(shares.hold(40 << 20) && !shares.hold(25 << 20), "a single thread has 64 MiB")
        shares.release(40 << 20)
        #expect(shares.hold(64 << 20))
        #expect(NetworkShares(threads: 4).hold(NetworkShares.streamWindow), "every thread can hold one body")
    }
}
