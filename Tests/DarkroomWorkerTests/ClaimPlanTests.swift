import DarkroomModel
import DarkroomWorkerState
import Testing

@testable import DarkroomWorker

@Suite struct ClaimPlanTests {
    let start = ContinuousClock.now

    private func demand(
        lowest: BatchPriority?, focused: (batch: BatchID, priority: BatchPriority)? = nil,
        drained: BatchPriority? = nil,
        takesOthers: Bool = false
    ) -> ClaimDemand {
        var demand = ClaimDemand(lowest: lowest)
        demand.focused = focused
        demand.drained = drained
        demand.takesOthers = takesOthers
        return demand
    }

    /// The claim that `plan` makes `milliseconds` after its start.
    private func next(
        _ plan: inout ClaimPlan, after milliseconds: Int = 0, lowest: BatchPriority?, focused: BatchPriority? = nil
    ) -> ClaimPlan.Claim? {
        let focus = focused.map { (batch: BatchID("focused"), priority: $0) }
        return plan.next(start + .milliseconds(milliseconds), demand(lowest: lowest, focused: focus))
    }

    /// Records the result of a claim in the plan. By default, the claim has read all ready batches.
    private func record(
        _ plan: inout ClaimPlan, _ claim: ClaimPlan.Claim?, _ priorities: [BatchPriority] = [], next: String = "",
        turn: Int = 1, sawAll: Bool = true
    ) throws {
        plan.claimed(try #require(claim), priorities, next: next, turn: turn, sawAll: sawAll)
    }

    @Test func claimsAtOnceAndThenWhileThereIsMore() throws {
        var plan = ClaimPlan(now: start)
        let first = try #require(next(&plan, lowest: .veryLow))
        #expect(first == ClaimPlan.Claim(lowest: .veryLow))
        try record(&plan, first, [.normal])
        let second = try #require(next(&plan, lowest: .veryLow))
        try record(&plan, second)
        let third = next(&plan, lowest: .veryLow)
        #expect(third == nil)
        #expect(plan.wake(start, ClaimDemand(lowest: .veryLow)) == start + .seconds(30))
        let late = next(&plan, after: 30_000, lowest: .veryLow)
        #expect(late != nil)
    }

    @Test func fullWorkerClaimsOnlyHigherPriorities() throws {
        var plan = ClaimPlan(now: start)
        try record(&plan, next(&plan, lowest: .veryLow), [.normal])
        let more = next(&plan, lowest: .high)
        #expect(more == nil, "a full worker claims more operations of the same priority")
        plan.noticed(.normal, due: start)
        let noticed = next(&plan, lowest: .high)
        #expect(noticed == nil)
        plan.noticed(.veryHigh, due: start + .milliseconds(1))
        #expect(plan.wake(start, ClaimDemand(lowest: .high)) == start + .milliseconds(1))
        let urgent = next(&plan, after: 1, lowest: .high)
        #expect(urgent == ClaimPlan.Claim(lowest: .high))
    }

    @Test func emptyHighPriorityClaimDoesNotStopClaimsOfLowerPriorities() throws {
        var plan = ClaimPlan(now: start)
        try record(&plan, next(&plan, lowest: .veryLow), [.normal])
        try record(&plan, next(&plan, after: 30_000, lowest: .high))
        let ordinary = next(&plan, after: 30_000, lowest: .veryLow)
        #expect(ordinary != nil, "the plan stopped claiming ordinary operations")
    }

    @Test func claimsAgainOneHundredMillisecondsAfterAChangeNotice() throws {
        var plan = ClaimPlan(now: start)
        try record(&plan, next(&plan, lowest: .veryLow))
        plan.noticed(.normal, due: start + .milliseconds(5))
        let early = next(&plan, lowest: .veryLow)
        #expect(early == nil)
        try record(&plan, next(&plan, after: 5, lowest: .veryLow))
        let between = next(&plan, after: 50, lowest: .veryLow)
        #expect(between == nil)
        let again = next(&plan, after: 105, lowest: .veryLow)
        #expect(again != nil)
    }

    @Test func fullWorkerClaimsSomeOperationsOfANewBatch() throws {
        var plan = ClaimPlan(now: start)
        try record(&plan, next(&plan, lowest: .veryLow), [.normal])
        plan.noticed(.normal, due: start)
        let claim = plan.next(start, demand(lowest: .high, takesOthers: true))
        #expect(claim == ClaimPlan.Claim(lowest: .normal, isForDrained: true))
        let drained = plan.next(start, demand(lowest: .high, drained: .low, takesOthers: true))
        #expect(drained == ClaimPlan.Claim(lowest: .low, isForDrained: true))
    }

    @Test func idleWorkerClaimsAgainWhenOthersMayReleaseOperations() throws {
        var plan = ClaimPlan(now: start)
        let claim = try #require(next(&plan, lowest: .veryLow))
        plan.claimed(claim, [], next: "", turn: 1, sawAll: true, again: .milliseconds(540))
        let early = next(&plan, after: 539, lowest: .veryLow)
        #expect(early == nil)
        #expect(plan.wake(start, ClaimDemand(lowest: .veryLow)) == start + .milliseconds(540))
        let second = next(&plan, after: 540, lowest: .veryLow)
        #expect(second == ClaimPlan.Claim(lowest: .veryLow))
        try record(&plan, second)
        let third = next(&plan, after: 1080, lowest: .veryLow)
        #expect(third == nil, "nobody can release operations")
    }

    @Test func leavesReleasedOperationsToTheIdleWorker() throws {
        var plan = ClaimPlan(now: start)
        plan.hold(back: .normal, until: start + .milliseconds(500))
        var wants = demand(lowest: .veryLow, focused: ("focused", .low), drained: .veryLow, takesOthers: true)
        let urgent = plan.next(start, wants)
        #expect(urgent == ClaimPlan.Claim(lowest: .high), "higher priorities are not held back")
        try record(&plan, urgent)
        let focused = plan.next(start, wants)
        #expect(focused == ClaimPlan.Claim(lowest: .low, focus: "focused"))
        wants.focused = nil
        plan.noticed(.normal, due: start)
        let noticed = plan.next(start + .milliseconds(499), wants)
        #expect(noticed == nil)
        #expect(plan.wake(start, wants) <= start + .milliseconds(500))
        var idle = wants
        idle.isIdle = true
        var copy = plan
        let ofIdle = copy.next(start, idle)
        #expect(ofIdle == ClaimPlan.Claim(lowest: .veryLow), "the worker is idle itself")
        let later = plan.next(start + .milliseconds(500), wants)
        #expect(later == ClaimPlan.Claim(lowest: .veryLow))
    }

    /// More than a few workers: this one gets no notice of what it has released itself.
    @Test func claimsOnceAfterTheHold() throws {
        var plan = ClaimPlan(now: start)
        let wants = demand(lowest: .veryLow)
        try record(&plan, plan.next(start, wants))
        plan.hold(back: .normal, until: start + .milliseconds(500))
        plan.observed(turn: 2, start)
        try record(&plan, plan.next(start, wants), turn: 2)
        let early = plan.next(start + .milliseconds(499), wants)
        #expect(early == nil)
        let late = plan.next(start + .milliseconds(500), wants)
        #expect(late == ClaimPlan.Claim(lowest: .veryLow))
    }

    @Test func waitsForTheEndOfAHold() {
        var plan = ClaimPlan(now: start)
        plan.hold(back: .veryHigh, until: start + .milliseconds(500))
        plan.hold(back: .low, until: start + .milliseconds(600))
        let claim = plan.next(start, demand(lowest: .veryLow))
        #expect(claim == nil)
        #expect(plan.wake(start, demand(lowest: .veryLow)) == start + .milliseconds(600))
    }

    @Test func workerThatBecomesIdleClaims() throws {
        var plan = ClaimPlan(now: start)
        var wants = demand(lowest: .veryLow)
        for _ in 1...2 {
            try record(&plan, plan.next(start, wants))
            let more = plan.next(start, wants)
            #expect(more == nil)
            wants.isIdle = true
            let claim = plan.next(start, wants)
            #expect(claim == ClaimPlan.Claim(lowest: .veryLow))
            try record(&plan, claim)
            let again = plan.next(start, wants)
            #expect(again == nil, "the worker was idle before")
            wants.isIdle = false
            let busy = plan.next(start, wants)
            #expect(busy == nil)
            plan.noticed(.veryHigh, due: start)
        }
    }

    @Test func limitsClaimsForAFastMovingFocus() throws {
        var plan = ClaimPlan(now: start)
        try record(&plan, next(&plan, lowest: .veryLow))
        var claims = 0
        for step in 0..<100 where next(&plan, after: step, lowest: .veryHigh, focused: .normal)?.focus != nil {
            claims += 1
        }
        #expect(claims == 5)
        // Even a worker with room for more operations sends a claim that takes only operations in the focus, because
        // other batches may be ahead of the batch in the ready queues.
        let focused = next(&plan, after: 1000, lowest: .low, focused: .normal)
        #expect(focused == ClaimPlan.Claim(lowest: .normal, focus: BatchID("focused")))
    }

    @Test func claimContinuesWhereThePreviousClaimStopped() throws {
        var plan = ClaimPlan(now: start)
        try record(&plan, next(&plan, lowest: .veryLow), next: "3:100")
        let second = next(&plan, after: 1, lowest: .veryLow)
        #expect(second == ClaimPlan.Claim(lowest: .veryLow, next: "3:100"))
        try record(&plan, second, next: "3:200")
        let third = next(&plan, after: 2, lowest: .veryLow)
        #expect(third?.next == "3:200")
        try record(&plan, third)
        #expect(next(&plan, after: 3, lowest: .veryLow) == nil)
    }

    @Test(arguments: [false, true])
    func restartsFromTheHighestPriorityForNewOperations(_ isNoticed: Bool) throws {
        var plan = ClaimPlan(now: start)
        try record(&plan, next(&plan, lowest: .veryLow), next: "2:100")
        // If no change notice has arrived, because the worker was full when the batch became ready, the claim restarts
        // after 5 s.
        if isNoticed { plan.noticed(.veryHigh, due: start + .milliseconds(1)) }
        let later = next(&plan, after: isNoticed ? 1 : 5000, lowest: .veryLow)
        #expect(later == ClaimPlan.Claim(lowest: .veryLow), "the claim continues below the new operations")
    }

    @Test func heartbeatWakesTheClaimLoopOnlyIfTheReadyQueuesChanged() throws {
        var plan = ClaimPlan(now: start)
        try record(&plan, next(&plan, lowest: .veryLow), turn: 7)
        plan.observed(turn: 7, start + .seconds(3))
        let same = next(&plan, after: 3000, lowest: .veryLow)
        #expect(same == nil, "the worker claims although the ready queues have not changed")
        plan.observed(turn: 8, start + .seconds(6))
        let changed = next(&plan, after: 6000, lowest: .veryLow)
        #expect(changed != nil)
        // The worker may now accept operations that the previous claim skipped.
        try record(&plan, changed, turn: 8, sawAll: false)
        plan.observed(turn: 8, start + .seconds(9))
        let leftOut = next(&plan, after: 9000, lowest: .veryLow)
        #expect(leftOut != nil)
        // If a batch becomes ready between two calls of one pass, the second call may start behind this batch.
        try record(&plan, leftOut, next: "2:100", turn: 8)
        try record(&plan, next(&plan, after: 9001, lowest: .veryLow), turn: 9)
        plan.observed(turn: 9, start + .seconds(12))
        let between = next(&plan, after: 12_000, lowest: .veryLow)
        #expect(between != nil)
    }
}
