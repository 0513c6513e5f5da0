import DarkroomModel
import Testing

@testable import DarkroomWorker

@Suite struct WorkerSteeringTests {
    let batch = BatchID("one")

    private func suspended(_ isSuspended: Bool = true) -> Steering {
        var steering = Steering()
        steering.isSuspended = isSuspended
        return steering
    }

    /// A worker that has heard everything up to version 5.
    private func upToDate() -> WorkerSteering {
        var steering = WorkerSteering()
        steering.answered(5, sent: nil, cluster: ClusterSteering(), batches: [batch: Steering()])
        steering.heardAll(upTo: 5)
        return steering
    }

    @Test func aWorkerThatHasHeardNothingNeedsABeat() {
        #expect(WorkerSteering().needsBeat)
        #expect(!upToDate().needsBeat)
    }

    @Test func theNextHintIsEnough() {
        var steering = upToDate()
        let isNews = steering.heard(6, batch: (batch, suspended()))
        #expect(isNews && steering.batch(batch).isSuspended && !steering.needsBeat && steering.known == 6)
    }

    @Test func aGapInTheHintsNeedsABeat() {
        var steering = upToDate()
        let isNews = steering.heard(8, batch: (batch, suspended()))
        #expect(isNews && steering.batch(batch).isSuspended, "the newer hint is not applied")
        #expect(steering.needsBeat && steering.known == 5)
        steering.answered(8, sent: 5, cluster: ClusterSteering(), batches: [batch: suspended()])
        #expect(steering.needsBeat, "an answer to something else than a heartbeat told it all")
        steering.heardAll(upTo: 8)
        #expect(!steering.needsBeat)
    }

    @Test func aHintThatCameTwiceOrLateChangesNothing() {
        var steering = upToDate()
        let news = [5, 3].map { steering.heard($0, batch: (batch, suspended())) }
        #expect(news == [false, false])
        #expect(!steering.batch(batch).isSuspended && !steering.needsBeat)
    }

    @Test func anAnswerOlderThanAHintThatCameMeanwhileIsIgnored() {
        var steering = upToDate()
        _ = steering.heard(6, batch: (batch, suspended()))
        steering.answered(5, sent: 5, cluster: ClusterSteering(), batches: [batch: suspended(false)])
        steering.heardAll(upTo: 5)
        #expect(steering.batch(batch).isSuspended && steering.known == 6 && !steering.needsBeat)
    }

    @Test func aVersionInAnyAnswerShowsALostHint() {
        var steering = upToDate()
        steering.answered(6, sent: 5)
        #expect(steering.needsBeat)
    }

    @Test func aClaimBringsWhatWasHintedOfABatchMeanwhile() {
        var steering = upToDate()
        let other = BatchID("other")  // not held when the hint comes
        _ = steering.heard(6, batch: (other, suspended()))
        steering.answered(5, sent: 5, cluster: ClusterSteering(), batches: [other: suspended(false)])
        #expect(steering.batch(other).isSuspended, "what was asked for before the suspend would begin after it")
    }

    @Test func aRedisThatWentBackIsTakenAtItsWord() {
        var steering = upToDate()
        _ = steering.heard(6, batch: (batch, suspended()))
        steering.answered(2, sent: 6, cluster: ClusterSteering(), batches: [batch: suspended(false)])
        #expect(!steering.batch(batch).isSuspended && steering.needsBeat)
        steering.heardAll(upTo: 2)
        #expect(!steering.needsBeat && steering.known == 2)
        let isNews = steering.heard(3, batch: (batch, suspended()))
        #expect(isNews && steering.known == 3)
    }

    @Test func clusterHintsKeepTheirOrderToo() {
        var steering = upToDate()
        var cluster = ClusterSteering()
        cluster.downloads = 7
        _ = steering.heard(6, cluster: cluster)
        steering.answered(5, sent: 5, cluster: ClusterSteering())
        #expect(steering.cluster.downloads == 7)
        steering.answered(7, sent: 6, cluster: ClusterSteering())
        #expect(steering.cluster.downloads == nil)
    }

    @Test func whatIsRememberedIsBounded() {
        var steering = upToDate()
        steering.held = [batch]
        _ = steering.heard(6, batch: (batch, suspended()))
        for number in 7..<5000 { _ = steering.heard(number, batch: (BatchID("\(number)")!, suspended())) }
        #expect(steering.batch(batch).isSuspended && steering.batch(BatchID("4999")).isSuspended)
        #expect(!steering.batch(BatchID("100")).isSuspended)
    }

    @Test func hintsAreRead() {
        func hint(_ text: String) -> Hint? { Hint(Array(text.utf8)) }
        #expect(hint(#"{"change":"work","workers":3,"priority":"high"}"#) == .work(workers: 3, priority: .high))
        #expect(
            hint(#"{"change":"batch","batch":"one","steering":"2,s,,","version":9}"#)
                == .batch(batch, suspended(), version: 9))
        #expect(hint(#"{"change":"photos","batch":"one","version":9}"#) == .photos(batch, version: 9))
        var cluster = ClusterSteering()
        cluster.isSuspended = true
        cluster.downloads = 16
        #expect(hint(#"{"change":"cluster","cluster":"s,16,","version":9}"#) == .cluster(cluster, version: 9))
        #expect(hint(#"{"change":"weather"}"#) == nil)
        #expect(hint("no JSON") == nil)
        #expect(hint(#"{"change":"batch","batch":"one","steering":"?","version":9}"#) == nil)
    }
}

@Suite struct ClaimPlanTests {
    let start = ContinuousClock.now

    /// The claim that a plan makes some time after its start.
    private func next(
        _ plan: inout ClaimPlan, after milliseconds: Int = 0, lowest: Priority?, focused: Priority? = nil
    ) -> ClaimPlan.Claim? {
        plan.next(start + .milliseconds(milliseconds), ClaimPlan.Wants(lowest: lowest, focused: focused))
    }

    @Test func claimsAtOnceAndThenWhileThereIsMore() throws {
        var plan = ClaimPlan(now: start)
        let first = try #require(next(&plan, lowest: .veryLow))
        #expect(first == ClaimPlan.Claim(lowest: .veryLow))
        plan.claimed(first, [.normal], goesOn: false)
        let second = try #require(next(&plan, lowest: .veryLow))
        plan.claimed(second, [], goesOn: false)
        let third = next(&plan, lowest: .veryLow)
        #expect(third == nil)
        #expect(plan.wake(start, ClaimPlan.Wants(lowest: .veryLow)) == start + .seconds(3))
        let late = next(&plan, after: 3000, lowest: .veryLow)
        #expect(late != nil)
    }

    @Test func aFullWorkerClaimsOnlyWhatIsMoreUrgent() throws {
        var plan = ClaimPlan(now: start)
        plan.claimed(try #require(next(&plan, lowest: .veryLow)), [.normal], goesOn: false)
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
        plan.claimed(try #require(next(&plan, lowest: .veryLow)), [.normal], goesOn: false)
        plan.claimed(try #require(next(&plan, after: 3000, lowest: .high)), [], goesOn: false)
        let ordinary = next(&plan, after: 3000, lowest: .veryLow)
        #expect(ordinary != nil, "it stopped claiming what there is")
    }

    @Test func aHintIsFollowedAgainAfterAHundredMilliseconds() throws {
        var plan = ClaimPlan(now: start)
        plan.claimed(try #require(next(&plan, lowest: .veryLow)), [], goesOn: false)
        plan.hinted(.normal, due: start + .milliseconds(5))
        let early = next(&plan, lowest: .veryLow)
        #expect(early == nil)
        plan.claimed(try #require(next(&plan, after: 5, lowest: .veryLow)), [], goesOn: false)
        let between = next(&plan, after: 50, lowest: .veryLow)
        #expect(between == nil)
        let again = next(&plan, after: 105, lowest: .veryLow)
        #expect(again != nil)
    }

    @Test func aFullWorkerTakesALittleOfABatchThatIsNew() throws {
        var plan = ClaimPlan(now: start)
        plan.claimed(try #require(next(&plan, lowest: .veryLow)), [.normal], goesOn: false)
        plan.hinted(.normal, due: start)
        let claim = plan.next(start, ClaimPlan.Wants(lowest: .high, takesOthers: true))
        #expect(claim == ClaimPlan.Claim(lowest: .normal, isForHungry: true))
        let hungry = plan.next(start, ClaimPlan.Wants(lowest: .high, hungry: .low, takesOthers: true))
        #expect(hungry == ClaimPlan.Claim(lowest: .low, isForHungry: true))
    }

    @Test func aFocusThatMovesFastIsClaimedForNowAndThen() throws {
        var plan = ClaimPlan(now: start)
        plan.claimed(try #require(next(&plan, lowest: .veryLow)), [], goesOn: false)
        var claims = 0
        for step in 0..<100 where next(&plan, after: step, lowest: .veryHigh, focused: .normal)?.isFocused == true {
            claims += 1
        }
        #expect(claims == 5)
        // With room, what is in focus comes first anyway.
        let ordinary = next(&plan, after: 1000, lowest: .low, focused: .normal)
        #expect(ordinary == ClaimPlan.Claim(lowest: .low))
    }
}
