import DarkroomModel
import Testing

@testable import DarkroomWorker

@Suite struct WorkerSteeringTests {
    let batch = BatchID("one")

    private func suspended(_ isSuspended: Bool = true) -> BatchControls {
        var controls = BatchControls()
        controls.isSuspended = isSuspended
        return controls
    }

    /// A worker that has heard everything up to version 5.
    private func upToDate() -> WorkerSteering {
        var controls = WorkerSteering()
        controls.answered(5, sent: 0, cluster: ClusterControls(), batches: [batch: BatchControls()])
        controls.heardAll(upTo: 5)
        return controls
    }

    @Test func aWorkerThatHasHeardNothingNeedsABeat() {
        #expect(WorkerSteering().needsBeat)
        #expect(!upToDate().needsBeat)
    }

    @Test func theNextHintIsEnough() {
        var controls = upToDate()
        let isNews = controls.heard(6, batch: (batch, suspended()))
        #expect(isNews && controls.batch(batch).isSuspended && !controls.needsBeat && controls.known == 6)
    }

    @Test func aGapInTheHintsNeedsABeat() {
        var controls = upToDate()
        let isNews = controls.heard(8, batch: (batch, suspended()))
        #expect(isNews && controls.batch(batch).isSuspended, "the newer hint is not applied")
        #expect(controls.needsBeat && controls.known == 5)
        controls.answered(8, sent: 5, cluster: ClusterControls(), batches: [batch: suspended()])
        #expect(controls.needsBeat, "an answer to something else than a heartbeat told it all")
        controls.heardAll(upTo: 8)
        #expect(!controls.needsBeat)
    }

    @Test func aHintThatCameTwiceOrLateChangesNothing() {
        var controls = upToDate()
        let news = [5, 3].map { controls.heard($0, batch: (batch, suspended())) }
        #expect(news == [false, false])
        #expect(!controls.batch(batch).isSuspended && !controls.needsBeat)
    }

    @Test func anAnswerOlderThanAHintThatCameMeanwhileIsIgnored() {
        var controls = upToDate()
        _ = controls.heard(6, batch: (batch, suspended()))
        controls.answered(5, sent: 5, cluster: ClusterControls(), batches: [batch: suspended(false)])
        controls.heardAll(upTo: 5)
        #expect(controls.batch(batch).isSuspended && controls.known == 6 && !controls.needsBeat)
    }

    @Test func aVersionInAnyAnswerShowsALostHint() {
        var controls = upToDate()
        controls.answered(6, sent: 5)
        #expect(controls.needsBeat)
    }

    @Test func aClaimBringsWhatWasHintedOfABatchMeanwhile() {
        var controls = upToDate()
        let other = BatchID("other")  // not held when the hint comes
        _ = controls.heard(6, batch: (other, suspended()))
        controls.answered(5, sent: 5, cluster: ClusterControls(), batches: [other: suspended(false)])
        #expect(controls.batch(other).isSuspended, "what was asked for before the suspend would begin after it")
    }

    @Test func aRedisThatWentBackIsTakenAtItsWord() {
        var controls = upToDate()
        _ = controls.heard(6, batch: (batch, suspended()))
        controls.answered(2, sent: 6, cluster: ClusterControls(), batches: [batch: suspended(false)])
        #expect(!controls.batch(batch).isSuspended && controls.needsBeat)
        controls.heardAll(upTo: 2)
        #expect(!controls.needsBeat && controls.known == 2)
        let isNews = controls.heard(3, batch: (batch, suspended()))
        #expect(isNews && controls.known == 3)
    }

    /// A hint that no change of Redis is behind, or one that a failover lost before this worker had heard of those below it.
    @Test func aHintThatRedisDoesNotConfirmIsForgotten() {
        var controls = upToDate()
        var cluster = ClusterControls()
        cluster.isSuspended = true
        _ = controls.heard(9_007_199_254_740_992, batch: (batch, suspended()), cluster: cluster)
        #expect(controls.cluster.isSuspended && controls.needsBeat)
        let asked = controls.highest
        controls.answered(5, sent: asked, cluster: ClusterControls(), batches: [batch: suspended(false)])
        controls.heardAll(upTo: 5)
        #expect(!controls.cluster.isSuspended && !controls.batch(batch).isSuspended && !controls.needsBeat)
        let isNews = controls.heard(6, batch: (batch, suspended()))
        #expect(isNews && controls.known == 6 && controls.batch(batch).isSuspended)
    }

    @Test func clusterHintsKeepTheirOrderToo() {
        var controls = upToDate()
        var cluster = ClusterControls()
        cluster.downloads = 7
        _ = controls.heard(6, cluster: cluster)
        controls.answered(5, sent: 5, cluster: ClusterControls())
        #expect(controls.cluster.downloads == 7)
        controls.answered(7, sent: 6, cluster: ClusterControls())
        #expect(controls.cluster.downloads == nil)
    }

    @Test func whatIsRememberedIsBounded() {
        var controls = upToDate()
        controls.held = [batch]
        _ = controls.heard(6, batch: (batch, suspended()))
        for number in 7..<5000 { _ = controls.heard(number, batch: (BatchID("\(number)")!, suspended())) }
        #expect(controls.batch(batch).isSuspended && controls.batch(BatchID("4999")).isSuspended)
        #expect(!controls.batch(BatchID("100")).isSuspended)
    }

    @Test func hintsAreRead() {
        func hint(_ text: String) -> Hint? { Hint(Array(text.utf8)) }
        #expect(
            hint(#"{"change":"work","workers":3,"priority":"high","operations":5}"#)
                == .work(Hint.Work(workers: 3, priority: .high, operations: 5)))
        func work(_ number: String) -> Hint? {
            hint(#"{"change":"work","workers":\#(number),"priority":"high","operations":-\#(number)}"#)
        }
        #expect(work("9223372036854775807") == nil)
        #expect(
            work("9007199254740992")
                == .work(Hint.Work(workers: 1_000_000, priority: .high, operations: 0)))
        #expect(
            hint(#"{"change":"batch","batch":"one","controls":"2,s,,","version":9}"#)
                == .batch(batch, suspended(), version: 9))
        #expect(hint(#"{"change":"photos","batch":"one","version":9}"#) == .photos(batch, version: 9))
        var cluster = ClusterControls()
        cluster.isSuspended = true
        cluster.downloads = 16
        #expect(hint(#"{"change":"cluster","cluster":"s,16,","version":9}"#) == .cluster(cluster, version: 9))
        #expect(hint(#"{"change":"weather"}"#) == nil)
        #expect(hint("no JSON") == nil)
        #expect(hint(#"{"change":"batch","batch":"one","controls":"?","version":9}"#) == nil)
    }
}

@Suite struct ClaimPlanTests {
    let start = ContinuousClock.now

    /// The claim that a plan makes some time after its start.
    private func next(
        _ plan: inout ClaimPlan, after milliseconds: Int = 0, lowest: Priority?, focused: Priority? = nil
    ) -> ClaimPlan.Claim? {
        let focus = focused.map { (batch: BatchID("focused"), priority: $0) }
        return plan.next(start + .milliseconds(milliseconds), ClaimPlan.Wants(lowest: lowest, focused: focus))
    }

    /// Tells the plan what a claim brought that saw all there was.
    private func tell(
        _ plan: inout ClaimPlan, _ claim: ClaimPlan.Claim?, _ priorities: [Priority] = [], next: String = "",
        turn: Int = 1, sawAll: Bool = true
    ) throws {
        plan.claimed(try #require(claim), priorities, next: next, turn: turn, sawAll: sawAll)
    }

    @Test func claimsAtOnceAndThenWhileThereIsMore() throws {
        var plan = ClaimPlan(now: start)
        let first = try #require(next(&plan, lowest: .veryLow))
        #expect(first == ClaimPlan.Claim(lowest: .veryLow))
        try tell(&plan, first, [.normal])
        let second = try #require(next(&plan, lowest: .veryLow))
        try tell(&plan, second)
        let third = next(&plan, lowest: .veryLow)
        #expect(third == nil)
        #expect(plan.wake(start, ClaimPlan.Wants(lowest: .veryLow)) == start + .seconds(30))
        let late = next(&plan, after: 30_000, lowest: .veryLow)
        #expect(late != nil)
    }

    @Test func aFullWorkerClaimsOnlyWhatIsMoreUrgent() throws {
        var plan = ClaimPlan(now: start)
        try tell(&plan, next(&plan, lowest: .veryLow), [.normal])
        let more = next(&plan, lowest: .high)
        #expect(more == nil, "more of what it is full of makes it claim")
        plan.hinted(.normal, due: start)
        let hinted = next(&plan, lowest: .high)
        #expect(hinted == nil)
        plan.hinted(.veryHigh, due: start + .milliseconds(1))
        #expect(plan.wake(start, ClaimPlan.Wants(lowest: .high)) == start + .milliseconds(1))
        let urgent = next(&plan, after: 1, lowest: .high)
        #expect(urgent == ClaimPlan.Claim(lowest: .high))
    }

    @Test func nothingUrgentIsNotNothingAtAll() throws {
        var plan = ClaimPlan(now: start)
        try tell(&plan, next(&plan, lowest: .veryLow), [.normal])
        try tell(&plan, next(&plan, after: 30_000, lowest: .high))
        let ordinary = next(&plan, after: 30_000, lowest: .veryLow)
        #expect(ordinary != nil, "it stopped claiming what there is")
    }

    @Test func aHintIsFollowedAgainAfterAHundredMilliseconds() throws {
        var plan = ClaimPlan(now: start)
        try tell(&plan, next(&plan, lowest: .veryLow))
        plan.hinted(.normal, due: start + .milliseconds(5))
        let early = next(&plan, lowest: .veryLow)
        #expect(early == nil)
        try tell(&plan, next(&plan, after: 5, lowest: .veryLow))
        let between = next(&plan, after: 50, lowest: .veryLow)
        #expect(between == nil)
        let again = next(&plan, after: 105, lowest: .veryLow)
        #expect(again != nil)
    }

    @Test func aFullWorkerTakesALittleOfABatchThatIsNew() throws {
        var plan = ClaimPlan(now: start)
        try tell(&plan, next(&plan, lowest: .veryLow), [.normal])
        plan.hinted(.normal, due: start)
        let claim = plan.next(start, ClaimPlan.Wants(lowest: .high, takesOthers: true))
        #expect(claim == ClaimPlan.Claim(lowest: .normal, isForHungry: true))
        let hungry = plan.next(start, ClaimPlan.Wants(lowest: .high, hungry: .low, takesOthers: true))
        #expect(hungry == ClaimPlan.Claim(lowest: .low, isForHungry: true))
    }

    @Test func aFocusThatMovesFastIsClaimedForNowAndThen() throws {
        var plan = ClaimPlan(now: start)
        try tell(&plan, next(&plan, lowest: .veryLow))
        var claims = 0
        for step in 0..<100 where next(&plan, after: step, lowest: .veryHigh, focused: .normal)?.focus != nil {
            claims += 1
        }
        #expect(claims == 5)
        // Also with room: others may stand before it in the rings.
        let focused = next(&plan, after: 1000, lowest: .low, focused: .normal)
        #expect(focused == ClaimPlan.Claim(lowest: .normal, focus: BatchID("focused")))
    }

    @Test func aClaimGoesOnWhereTheLastOneStopped() throws {
        var plan = ClaimPlan(now: start)
        try tell(&plan, next(&plan, lowest: .veryLow), next: "3:100")
        let second = next(&plan, after: 1, lowest: .veryLow)
        #expect(second == ClaimPlan.Claim(lowest: .veryLow, next: "3:100"))
        try tell(&plan, second, next: "3:200")
        let third = next(&plan, after: 2, lowest: .veryLow)
        #expect(third?.next == "3:200")
        try tell(&plan, third)
        #expect(next(&plan, after: 3, lowest: .veryLow) == nil)
    }

    @Test(arguments: [false, true])
    func whatIsNewIsLookedForFromTheBeginning(_ isHinted: Bool) throws {
        var plan = ClaimPlan(now: start)
        try tell(&plan, next(&plan, lowest: .veryLow), next: "2:100")
        // Hinted at, or entered while this worker was full for long and heard of no hint.
        if isHinted { plan.hinted(.veryHigh, due: start + .milliseconds(1)) }
        let later = next(&plan, after: isHinted ? 1 : 5000, lowest: .veryLow)
        #expect(later == ClaimPlan.Claim(lowest: .veryLow), "it goes on below what is new")
    }

    @Test func aHeartbeatWakesOnlyWhereTheRingsHaveChanged() throws {
        var plan = ClaimPlan(now: start)
        try tell(&plan, next(&plan, lowest: .veryLow), turn: 7)
        plan.heard(turn: 7, start + .seconds(3))
        let same = next(&plan, after: 3000, lowest: .veryLow)
        #expect(same == nil, "a worker that can take nothing claims although nothing has changed")
        plan.heard(turn: 8, start + .seconds(6))
        let changed = next(&plan, after: 6000, lowest: .veryLow)
        #expect(changed != nil)
        // What was left out may be wanted by now.
        try tell(&plan, changed, turn: 8, sawAll: false)
        plan.heard(turn: 8, start + .seconds(9))
        let leftOut = next(&plan, after: 9000, lowest: .veryLow)
        #expect(leftOut != nil)
        // A change between the calls of one pass may stand before the place of the second.
        try tell(&plan, leftOut, next: "2:100", turn: 8)
        try tell(&plan, next(&plan, after: 9001, lowest: .veryLow), turn: 9)
        plan.heard(turn: 9, start + .seconds(12))
        let between = next(&plan, after: 12_000, lowest: .veryLow)
        #expect(between != nil)
    }
}

@Suite struct HintDrawTests {
    private func claimants(_ workers: Int, _ operations: Int) -> Int {
        let work = Hint.Work(workers: workers, priority: .normal, operations: operations)
        return (0..<workers).filter { work.isFor(draw: Double($0) / Double(workers)) }.count
    }

    @Test func asManyClaimAsThereIsWorkFor() {
        #expect(claimants(1000, 1) == 18)
        #expect(claimants(10_000, 1) == 18, "the cost of a hint grows with the workers")
        #expect(claimants(1000, 400) == 816)
        #expect(claimants(1000, 1_000_000) == 1000)
    }

    @Test func allOfAFewClaim() {
        for workers in 1...16 { #expect(claimants(workers, 0) == workers) }
    }
}
