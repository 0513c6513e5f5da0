import DarkroomModel
import Testing

@testable import DarkroomWorkerState

@Suite struct ControlMirrorTests {
    let batch = BatchID("one")

    private func suspended(_ isSuspended: Bool = true) -> BatchControls {
        var controls = BatchControls()
        controls.isSuspended = isSuspended
        return controls
    }

    /// A mirror that has received every change up to version 5.
    private func upToDate() -> ControlMirror {
        var mirror = ControlMirror()
        mirror.answered(
            ControlsAnswer(
                version: 5, sent: 0, cluster: ClusterControls(), batches: [batch: BatchControls()], completeVersion: 5))
        return mirror
    }

    @Test func newMirrorNeedsAHeartbeat() {
        #expect(ControlMirror().needsHeartbeat)
        #expect(!upToDate().needsHeartbeat)
    }

    @Test func nextNoticeNeedsNoHeartbeat() {
        var mirror = upToDate()
        mirror.noticed(6, batch: (batch, suspended()))
        #expect(mirror.controls(of: batch).isSuspended && !mirror.needsHeartbeat && mirror.known == 6)
    }

    @Test func gapInTheNoticesNeedsAHeartbeat() {
        var mirror = upToDate()
        mirror.noticed(8, batch: (batch, suspended()))
        #expect(mirror.controls(of: batch).isSuspended, "the newer notice is not applied")
        #expect(mirror.needsHeartbeat && mirror.known == 5)
        mirror.answered(ControlsAnswer(version: 8, sent: 5, cluster: ClusterControls(), batches: [batch: suspended()]))
        #expect(mirror.needsHeartbeat, "an incomplete reply counts as complete")
        mirror.answered(ControlsAnswer(version: 8, sent: 8, completeVersion: 8))
        #expect(!mirror.needsHeartbeat)
    }

    @Test func repeatedOrLateNoticeIsIgnored() {
        var mirror = upToDate()
        for version in [5, 3] { mirror.noticed(version, batch: (batch, suspended())) }
        #expect(!mirror.controls(of: batch).isSuspended && !mirror.needsHeartbeat)
    }

    @Test func replyOlderThanANoticeIsIgnored() {
        var mirror = upToDate()
        mirror.noticed(6, batch: (batch, suspended()))
        mirror.answered(
            ControlsAnswer(
                version: 5, sent: 5, cluster: ClusterControls(), batches: [batch: suspended(false)], completeVersion: 5)
        )
        #expect(mirror.controls(of: batch).isSuspended && mirror.known == 6 && !mirror.needsHeartbeat)
    }

    @Test func newerVersionInAReplyShowsALostNotice() {
        var mirror = upToDate()
        mirror.answered(ControlsAnswer(version: 6, sent: 5))
        #expect(mirror.needsHeartbeat)
    }

    @Test func noticeAppliesToABatchOfARunningClaim() {
        var mirror = upToDate()
        let other = BatchID("other")  // not yet local when the notice arrives
        mirror.noticed(6, batch: (other, suspended()))
        mirror.answered(
            ControlsAnswer(version: 5, sent: 5, cluster: ClusterControls(), batches: [other: suspended(false)]))
        #expect(mirror.controls(of: other).isSuspended, "photos claimed before the suspend would start after it")
    }

    @Test func appliesTheControlsOfARedisThatLostChanges() {
        var mirror = upToDate()
        mirror.noticed(6, batch: (batch, suspended()))
        mirror.answered(
            ControlsAnswer(version: 2, sent: 6, cluster: ClusterControls(), batches: [batch: suspended(false)]))
        #expect(!mirror.controls(of: batch).isSuspended && mirror.needsHeartbeat)
        mirror.answered(ControlsAnswer(version: 2, sent: 2, completeVersion: 2))
        #expect(!mirror.needsHeartbeat && mirror.known == 2)
        mirror.noticed(3, batch: (batch, suspended()))
        #expect(mirror.known == 3)
    }

    /// Either Redis never made the change that the notice announced, or a failover lost the change.
    @Test func discardsANoticeThatRedisDoesNotConfirm() {
        var mirror = upToDate()
        var cluster = ClusterControls()
        cluster.isSuspended = true
        mirror.noticed(9_007_199_254_740_992, batch: (batch, suspended()), cluster: cluster)
        #expect(mirror.cluster.isSuspended && mirror.needsHeartbeat)
        let asked = mirror.highest
        mirror.answered(
            ControlsAnswer(
                version: 5, sent: asked, cluster: ClusterControls(), batches: [batch: suspended(false)],
                completeVersion: 5))
        #expect(!mirror.cluster.isSuspended && !mirror.controls(of: batch).isSuspended && !mirror.needsHeartbeat)
        mirror.noticed(6, batch: (batch, suspended()))
        #expect(mirror.known == 6 && mirror.controls(of: batch).isSuspended)
    }

    @Test func appliesNoticesOfTheClusterInOrder() {
        var mirror = upToDate()
        var cluster = ClusterControls()
        cluster.downloads = 7
        mirror.noticed(6, cluster: cluster)
        mirror.answered(ControlsAnswer(version: 5, sent: 5, cluster: ClusterControls()))
        #expect(mirror.cluster.downloads == 7)
        mirror.answered(ControlsAnswer(version: 7, sent: 6, cluster: ClusterControls()))
        #expect(mirror.cluster.downloads == nil)
    }

    @Test func limitsTheNumberOfStoredBatches() {
        var mirror = upToDate()
        mirror.keep(batch)
        mirror.noticed(6, batch: (batch, suspended()))
        for number in 7..<5000 { mirror.noticed(number, batch: (BatchID("\(number)")!, suspended())) }
        #expect(mirror.controls(of: batch).isSuspended && mirror.controls(of: BatchID("4999")).isSuspended)
        #expect(!mirror.controls(of: BatchID("100")).isSuspended)
    }

    @Test func decodesNotices() {
        func notice(_ text: String) -> ChangeNotice? { ChangeNotice(Array(text.utf8)) }
        #expect(
            notice(#"{"change":"work","workers":3,"priority":"high","operations":5}"#)
                == .work(ChangeNotice.Work(workers: 3, priority: .high, operations: 5)))
        func work(_ number: String) -> ChangeNotice? {
            notice(#"{"change":"work","workers":\#(number),"priority":"high","operations":-\#(number)}"#)
        }
        #expect(work("9223372036854775807") == nil)
        #expect(
            work("9007199254740992")
                == .work(ChangeNotice.Work(workers: 1_000_000, priority: .high, operations: 0)))
        #expect(
            notice(#"{"change":"batch","batch":"one","controls":"2,s,,","version":9}"#)
                == .batch(batch, suspended(), version: 9))
        #expect(notice(#"{"change":"idle","workers":3}"#) == .idle(ChangeNotice.Idle(workers: 3)))
        #expect(notice(#"{"change":"idle","workers":0}"#) == .idle(ChangeNotice.Idle(workers: 2)))
        #expect(
            notice(#"{"change":"idle","workers":9007199254740992}"#) == .idle(ChangeNotice.Idle(workers: 1_000_000)))
        #expect(notice(#"{"change":"idle"}"#) == nil)
        #expect(notice(#"{"change":"photos","batch":"one","version":9}"#) == .photos(batch, version: 9))
        var cluster = ClusterControls()
        cluster.isSuspended = true
        cluster.downloads = 16
        #expect(notice(#"{"change":"cluster","cluster":"s,16,","version":9}"#) == .cluster(cluster, version: 9))
        #expect(notice(#"{"change":"weather"}"#) == nil)
        #expect(notice("no JSON") == nil)
        #expect(notice(#"{"change":"batch","batch":"one","controls":"?","version":9}"#) == nil)
    }
}

@Suite struct ChangeNoticeDrawTests {
    private func claimants(_ workers: Int, _ operations: Int) -> Int {
        let work = ChangeNotice.Work(workers: workers, priority: .normal, operations: operations)
        return (0..<workers).filter { work.isFor(draw: Double($0) / Double(workers)) }.count
    }

    @Test func numberOfClaimantsFollowsTheNumberOfOperations() {
        #expect(claimants(1000, 1) == 18)
        #expect(claimants(10_000, 1) == 18, "the number of claimants grows with the number of workers")
        #expect(claimants(1000, 400) == 816)
        #expect(claimants(1000, 1_000_000) == 1000)
    }

    @Test func allWorkersOfASmallClusterClaim() {
        for workers in 1...16 { #expect(claimants(workers, 0) == workers) }
    }

    /// One idle worker can take about two claims, whatever the number of the others.
    @Test(arguments: [2, 3, 34, 1000]) func aNoticeOfAnIdleWorkerIsForAFewWorkers(workers: Int) {
        let idle = ChangeNotice.Idle(workers: workers)
        let asked = (0..<(workers - 1)).count { idle.isFor(draw: Double($0) / Double(workers - 1)) }
        #expect((20...40).contains(asked * idle.most))
    }
}
