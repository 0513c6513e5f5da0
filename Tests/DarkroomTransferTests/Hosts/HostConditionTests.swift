import DarkroomHosts
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(1))) struct HostConditionTests {
    // MARK: Rates that a host enforces

    /// How hosts limit the rate of requests.
    enum Limiter: CaseIterable {
        /// At least a fixed time between two requests.
        case spaced
        /// A number of requests in each second of the clock.
        case windowed
        /// A bucket of a second's requests that is filled evenly.
        case bucket
    }

    @Test(arguments: Limiter.allCases, [2.0, 8, 20, 60])
    func learnsTheRateOfAHost(limiter: Limiter, rate: Double) throws {
        var (last, window, used, tokens, filled) = (-1.0, -1.0, 0.0, rate, 0.0)
        func allows(_ now: Double) -> Bool {
            switch limiter {
            case .spaced:
                guard now - last >= 1 / rate else { return false }
                last = now
                return true
            case .windowed:
                if now.rounded(.down) != window { (window, used) = (now.rounded(.down), 0) }
                used += 1
                return used <= rate
            case .bucket:
                tokens = min(rate, tokens + (now - filled) * rate)
                filled = now
                guard tokens >= 1 else { return false }
                tokens -= 1
                return true
            }
        }
        let photos = Int(rate * 15)
        let (result, _) = SimulatedHost.get(photos) { now, _ in
            (allows(now) ? .answered(after: .milliseconds(100)) : .refused(retryAfter: nil), 0.1)
        }
        let least = Double(photos) / rate
        // At high rates, the answers of many requests are still on their way when the first one is refused.
        #expect(try #require(result.end) < least * (rate > 20 ? 1.6 : 4 / 3))
        #expect(Double(result.refused) <= max(40, rate * 1.5))
    }

    /// For a host that stays down for long, other operations should get the place of those that wait for it.
    @Test func probesBecomeRareAndTheLastOneIsAtTheEnd() throws {
        var condition = HostCondition(HostCondition.Rules(patience: .seconds(7200)))
        let start = ContinuousClock.now
        var (now, probes) = (start, [Duration]())
        while condition.verdict(now) == nil {
            now = max(now, try #require(condition.nextBegin(now)))
            condition.began(now)
            condition.ended(.silent, begun: now, now)
            if case .down(_, let next) = condition.state { probes.append(next - now) }
            if condition.verdict(now) == nil { #expect((condition.standstill ?? now) >= now) }
        }
        #expect(probes.prefix(5) == [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(10)])
        #expect(probes.max() == .seconds(300) && probes.count < 80)
        #expect(now - start > .seconds(7180) && now - start <= .seconds(7210))
    }

    @Test func onlyALongPauseIsAStandstill() {
        for (pause, isLong) in [(2, false), (9, false), (10, true), (1800, true)] {
            var condition = HostCondition(HostCondition.Rules(patience: .seconds(7200)))
            let now = ContinuousClock.now
            condition.began(now)
            condition.ended(.refused(retryAfter: .seconds(pause)), begun: now, now)
            #expect(condition.standstill == (isLong ? now + .seconds(pause) : nil))
        }
    }

    @Test func sendsNothingBeforeRetryAfter() throws {
        var later = -1.0
        var early = 0
        let (result, _) = SimulatedHost.get(50) { now, running in
            if now < later { early += 1 }
            guard now > 1, later < 0 else { return (.answered(after: .milliseconds(200)), 0.2) }
            if running == 0 { later = now + 7.1 }
            return (.refused(retryAfter: .seconds(7)), 0.1)
        }
        #expect(early == 0)
        #expect(result.end != nil)
    }

    @Test func retryAfterBeyondThePatienceIsFinal() throws {
        let (result, _) = SimulatedHost.get(50) { _, _ in (.refused(retryAfter: .seconds(86400 * 365)), 0.1) }
        #expect(result.verdict == .refuses)
        #expect(try #require(result.verdictAt) < 0.2)
        #expect(result.requests.count <= ConnectionLimit.start)
    }

    @Test func hostThatRefusesEverythingIsGivenUp() throws {
        let (result, _) = SimulatedHost.get(50) { _, _ in (.refused(retryAfter: nil), 0.1) }
        #expect(result.verdict == .refuses)
        #expect(try (50...61).contains(#require(result.verdictAt)))
        #expect(result.requests.count < 30)
    }

    // MARK: Silence

    @Test func silentHostGetsFewProbesAndIsGivenUp() throws {
        let (result, _) = SimulatedHost.get(600) { _, _ in (.silent, 10) }
        #expect(result.verdict == .unreachable)
        #expect(try (50...75).contains(#require(result.verdictAt)))
        #expect(result.requests.count <= 12)
    }

    @Test(arguments: [5.0, 20, 40]) func hostThatReturnsLosesNothing(seconds: Double) throws {
        let (result, condition) = SimulatedHost.get(500) { now, _ in
            now < seconds ? (.silent, 0.01) : (.answered(after: .milliseconds(50)), 0.05)
        }
        #expect(try #require(result.end) < seconds + 20)
        #expect(condition.state == .up)
    }

    @Test func oneSuccessIsEnoughAgainstSilence() {
        var number = 0
        let (result, _) = SimulatedHost.get(100) { _, _ in
            number += 1
            return number % 3 == 0 ? (.answered(after: .milliseconds(10)), 0.01) : (.silent, 1)
        }
        #expect(result.verdict == nil)
        #expect(result.end != nil)
    }

    // MARK: Bodies that stall

    /// Each tenth photo is missing. The answers about them do not show that the host can send a photo.
    @Test func hostThatCompletesNoBodyIsGivenUp() throws {
        var number = 0
        let (result, _) = SimulatedHost.get(600) { _, _ in
            number += 1
            return number % 10 == 0 ? (.answered(after: .milliseconds(10)), 0.01) : (.stalled, 30)
        }
        #expect(result.verdict == .tooSlow)
        #expect(try (89...121).contains(#require(result.verdictAt)))
    }

    @Test func hostThatCompletesOneBodyInAWhileIsNotGivenUp() {
        var condition = HostCondition(.init())
        let start = ContinuousClock.now
        for number in 1...20 {
            let now = start + .seconds(30 * number)
            condition.began(now - .seconds(30))
            if number.isMultiple(of: 2) {
                condition.ended(.answered(after: .milliseconds(10)), begun: now - .seconds(30), now)
                condition.delivered()
            } else {
                condition.ended(.stalled, begun: now - .seconds(30), now)
            }
            #expect(condition.verdict(now) == nil && condition.state == .up)
        }
    }

    /// The bodies take 40 s. One was completed just before all connections broke.
    @Test func shortOutageIsNoReasonToGiveUp() {
        var condition = HostCondition(.init())
        let start = ContinuousClock.now
        for number in 0..<5 { condition.began(start + .seconds(10 * number)) }
        condition.ended(.answered(after: .milliseconds(10)), begun: start, start + .seconds(40))
        condition.delivered()
        for number in 1..<5 {
            condition.ended(.stalled, begun: start + .seconds(10 * number), start + .seconds(71))
            #expect(condition.verdict(start + .seconds(71)) == nil)
        }
    }

    /// A host of which all requests are redirects or missing photos completes no body.
    @Test func rareStallsDoNotAddUp() {
        var condition = HostCondition(.init())
        var now = ContinuousClock.now
        for _ in 0..<10 {
            condition.began(now)
            condition.ended(.stalled, begun: now, now + .seconds(30))
            #expect(condition.verdict(now + .seconds(30)) == nil)
            now += .seconds(3600)
        }
    }

    @Test func stallsDoNotCountAgainstOtherBodiesUnderWay() {
        var condition = HostCondition(.init())
        let start = ContinuousClock.now
        for _ in 0..<30 { condition.began(start) }
        for number in 1...5 { condition.ended(.stalled, begun: start, start + .seconds(30 * number)) }
        #expect(condition.verdict(start + .seconds(150)) == nil)
    }

    @Test func refusalLongAfterAStallIsTheFirstOne() {
        var condition = HostCondition(.init())
        var now = ContinuousClock.now
        for sign in [HostSign.refused(retryAfter: nil), .stalled, .refused(retryAfter: nil)] {
            condition.began(now)
            condition.ended(sign, begun: now, now + .milliseconds(100))
            #expect(condition.verdict(now + .milliseconds(100)) == nil)
            now += .seconds(300)
        }
    }

    @Test func stalledBodyDoesNotEndAPause() {
        var condition = HostCondition(.init())
        let start = ContinuousClock.now
        for _ in 0..<5 { condition.began(start) }
        condition.ended(.refused(retryAfter: .seconds(3600)), begun: start, start + .seconds(1))
        for number in 1...4 { condition.ended(.stalled, begun: start, start + .seconds(30 * number)) }
        #expect(condition.verdict(start + .seconds(120)) == .refuses)
    }

    /// What happened before a quiet time does not count.
    @Test(arguments: [HostSign.refused(retryAfter: nil), .unavailable, .silent])
    func patienceBeginsWithTheTrouble(sign: HostSign) {
        var condition = HostCondition(.init())
        var now = ContinuousClock.now
        condition.began(now)
        condition.ended(.answered(after: .milliseconds(50)), begun: now, now)
        now += .seconds(300)
        for _ in 0..<3 {
            condition.began(now)
            condition.ended(sign, begun: now, now)
            #expect(condition.verdict(now) == nil)
            now += .milliseconds(100)
        }
    }

    @Test func silenceDoesNotEndAPause() throws {
        var condition = HostCondition(.init())
        let start = ContinuousClock.now
        for _ in 0..<4 { condition.began(start) }
        condition.ended(.refused(retryAfter: .seconds(3600)), begun: start, start + .seconds(1))
        for _ in 0..<3 { condition.ended(.silent, begun: start, start + .seconds(10)) }
        #expect(condition.verdict(start + .seconds(100)) == .refuses)
    }

    @Test func brokenPhotosDoNotSlowTheirHostDown() throws {
        var condition = HostCondition(.init())
        var now = ContinuousClock.now
        // Each third photo is always answered with 503.
        var (requests, number) = (0, 0)
        let end = now + .seconds(60)
        while now < end {
            now = max(now, try #require(condition.nextBegin(now)))
            condition.began(now)
            let start = now
            now += .milliseconds(50)
            number += 1
            condition.ended(
                number.isMultiple(of: 3) ? .unavailable : .answered(after: .milliseconds(50)), begun: start, now)
            requests += 1
        }
        #expect(requests > 600, "\(requests)")
    }

    // MARK: Connections

    @Test func fastHostGetsAllConnections() throws {
        let (result, condition) = SimulatedHost.get(3000) { _, _ in (.answered(after: .milliseconds(150)), 0.15) }
        #expect(condition.limit == ConnectionLimit.most)
        #expect(result.mostAtOnce == ConnectionLimit.most)
        #expect(try #require(result.end) < 3000 * 0.15 / 32 / 0.9)
    }

    @Test func hostWithHTTP2GetsMoreRequestsAtOnce() {
        var connections = ConnectionLimit()
        func answer(_ count: Int) {
            for _ in 0..<count { connections.answered(after: .milliseconds(150), isFull: true) }
        }
        answer(5_000)
        #expect(connections.current == ConnectionLimit.most)
        connections.use(isMultiplexed: true)
        answer(20_000)
        #expect(connections.current == ConnectionLimit.mostStreams)
        connections.use(isMultiplexed: false)
        #expect(connections.current == ConnectionLimit.most)
    }

    /// A host that serves 8 requests at a time: each further one waits.
    @Test func crowdedHostGetsNoMoreThanItServes() throws {
        var free = [Double](repeating: 0, count: 8)
        let (result, condition) = SimulatedHost.get(2000) { now, _ in
            let place = free.indices.min { free[$0] < free[$1] }!
            free[place] = max(now, free[place]) + 0.1
            return (.answered(after: .seconds(free[place] - now)), free[place] - now)
        }
        #expect(condition.limit <= 20, "\(condition.limit)")
        #expect(try #require(result.end) < 2000 * 0.1 / 8 / 0.9)
    }

    @Test func fixedLimitIsExact() {
        let (result, _) = SimulatedHost.get(100, .init(perHost: 7)) { _, _ in
            (.answered(after: .milliseconds(150)), 0.15)
        }
        #expect(result.mostAtOnce == 7)
    }

    // MARK: Other workers

    private func share(_ permits: Int, of all: Int = 4, _ state: SharedHostState? = nil) -> HostShare {
        var share = HostShare(permits: permits)
        (share.all, share.state, share.version) = (all, state, state == nil ? 0 : 7)
        return share
    }

    private func shared(_ rules: HostCondition.Rules = .init()) -> HostCondition {
        var condition = HostCondition(rules)
        condition.sharing = HostCondition.Sharing()
        return condition
    }

    @Test func probesOfAHostThatAnotherWorkerFoundDownHavePauses() {
        var condition = shared()
        let now = ContinuousClock.now
        let told = condition.use("h", wanted: 1, now)
        let down = SharedHostState.troubled(.down, since: .seconds(2), next: .seconds(1), count: 2)
        condition.apply(share(1, down), to: told.use, sent: told.learned, now)
        #expect(!condition.hasNews)
        let probe = now + .seconds(1)
        #expect(condition.nextBegin(now) == probe)
        condition.began(probe)
        condition.ended(.silent, begun: probe, probe)
        #expect(condition.nextBegin(probe) == probe + .seconds(4))
        #expect(condition.hasNews)
    }

    @Test func rateIsDividedByPermits() throws {
        var condition = shared(.init(interval: .milliseconds(100)))
        let now = ContinuousClock.now
        let told = condition.use("h", wanted: 1, now)
        condition.apply(share(1, of: 4), to: told.use, sent: told.learned, now)
        #expect(condition.nextBegin(now) == now + .milliseconds(400), "also the first request")
        condition.began(now + .milliseconds(400))
        condition.ended(.answered(after: .milliseconds(1)), begun: now, now + .milliseconds(500))
        let again = condition.use("h", wanted: 1, now)
        condition.apply(share(4, of: 4), to: again.use, sent: again.learned, now)
        #expect(condition.nextBegin(now) == now + .milliseconds(500))
    }

    /// The rate of a host that refuses only single photos ends, and the reply of an exchange does not bring it back.
    @Test func endOfARateIsNews() {
        var condition = shared()
        var now = ContinuousClock.now
        func exchange(rate: Int?) -> HostUse {
            let told = condition.use("h", wanted: 1, now)
            var share = share(4)
            share.rate = rate
            condition.apply(share, to: told.use, sent: told.learned, now)
            return told.use
        }
        _ = exchange(rate: 4000)
        #expect(condition.pace?.rate == 4)
        condition.pace = nil
        now += .seconds(1)
        #expect(exchange(rate: nil).rateChange == .lowered(to: 0))
        #expect(condition.pace == nil)
        #expect(!condition.hasNews)
    }
}
