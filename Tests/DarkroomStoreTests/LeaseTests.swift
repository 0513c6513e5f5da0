import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct LeaseTests {
    @Test func rejectsALateReportAfterTheLeaseExpired() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        let late = try test.claim("late")[0].held
        try test.report(late, "F..", worker: "late")
        try test.pass(seconds: 16)
        try test.heartbeat()
        #expect(try test.batch(id).queue == [1])
        #expect(try test.report(late, "FFF", worker: "late") == .lost)
        #expect(
            try test.heartbeat("late", held: [late]) == [
                HeldOperation(batch: id, number: 1, fencingToken: late.fencingToken)
            ])

        let next = try test.claim("next")[0]
        #expect(next.stateCodes == Array("FNN".utf8))
        #expect(next.leaseExpiries == 1)
        #expect(next.held.fencingToken > late.fencingToken)
        #expect(try test.report(late, "FFF", worker: "late") == .lost)
        #expect(try test.store.perform(test.store.release(late, worker: "late")) == .lost)
        #expect(try test.report(next.held, ".FF", worker: "next") == .accepted(ended: true, stateCodes: nil))
        #expect(try test.report(late, "FFF", worker: "late") == .ended(stateCodes: Array("FFF".utf8)))
        #expect(try test.batch(id).state == .finished)
    }

    @Test func requestsTheRemovalOfStaleFilesNineTimes() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 2) { $0.output = "/photos" }
        let held = try test.claim("lost").map(\.held)
        _ = try test.store.perform(test.store.cancel(id))
        func requested(_ worker: String?) throws -> HeldOperation? {
            try test.store.perform(test.store.heartbeat(worker: worker)).staleFiles
        }
        #expect(try requested("other") == nil)
        #expect(try test.store.perform(test.store.release(held[1], worker: "lost")).isCancelled)
        try test.pass(seconds: 16)
        #expect(try requested(nil) == nil, "only workers may remove stale files")
        #expect(try test.batch(id).state == .finished)
        for attempt in 1...9 {
            #expect(try requested("other") == held[0])
            #expect(try requested("other") == nil, "the request is repeated after one minute")
            let left = try test.state().staleFiles
            guard attempt < 9, let (member, due) = left.first else { continue }
            let now = try test.store.time()
            #expect(due > now + 50_000)
            try test.command("ZADD", test.store.keys.staleFiles, "1", member)
        }
        #expect(try test.state().staleFiles.isEmpty)
    }

    @Test func comparesWorkerAndFencingToken() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        let held = try test.claim("worker-1")[0].held
        let older = HeldOperation(batch: id, number: 1, fencingToken: held.fencingToken - 1)
        #expect(try test.report(held, "FFF", worker: "worker-2") == .lost)
        #expect(try test.report(held, "FFF", worker: "worker") == .lost)  // a prefix of the name
        #expect(try test.report(older, "FFF", worker: "worker-1") == .lost)
        #expect(try test.heartbeat("worker-2", held: [held]).count == 1)
        #expect(try test.heartbeat("worker-1", held: [older]).count == 1)
        #expect(try test.heartbeat("worker-1", held: [held]).isEmpty)
    }

    @Test func downloadedPhotosAreNewAgainAfterAReleaseOrLeaseExpiry() throws {
        let test = try TestStore()
        let id = try test.submit(size: 4, operations: 2)
        let held = try test.claim().map(\.held)
        for operation in held { try test.report(operation, "DFDa") }
        #expect(try test.batch(id).counters.downloaded == 4)
        #expect(try test.store.perform(test.store.release(held[0], worker: "worker")) == .queued)
        #expect(try test.batch(id).stateCodes(1) == "NFNa")
        try test.pass(seconds: 16)
        try test.heartbeat()
        let batch = try test.batch(id)
        #expect(batch.stateCodes(2) == "NFNa")
        #expect(batch.counters.downloaded == 0)
        #expect(batch.leaseExpiries == [2: 1])
    }

    @Test func lateRenewalIsAcceptedWhileTheOperationIsStillHeld() throws {
        let test = try TestStore()
        try test.submit(operations: 1)
        let held = try test.claim()[0].held
        try test.pass(seconds: 3600)
        #expect(try test.heartbeat("worker", held: [held]).isEmpty)
        try test.pass(seconds: 3600)
        #expect(try test.claim(held: [held]).isEmpty)  // a claim also renews first
        #expect(try test.report(held, "FFF") == .accepted(ended: true, stateCodes: nil))
    }

    @Test func leasesDoNotExpireDuringAnOutageOfRedis() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        let held = try test.claim()[0].held
        for _ in 1...4 {
            let before = try test.state()
            try test.command("HINCRBY", test.store.keys.control, "seen", "-3600000")
            try test.heartbeat()
            #expect(try test.state().leaseClock == before.leaseClock + 3000)
        }
        #expect(try test.batch(id).executing[1]?.fencingToken == held.fencingToken)
        // Each hour of outage advances the lease clock by only 3 s. After the fifth hour, the lease of 15 s expires.
        try test.command("HINCRBY", test.store.keys.control, "seen", "-3600000")
        try test.heartbeat()
        try test.command("HINCRBY", test.store.keys.control, "seen", "-10")
        try test.heartbeat()
        #expect(try test.batch(id).queue == [1])
    }

    @Test func leaseClockIgnoresAClockThatGoesBack() throws {
        let test = try TestStore()
        try test.submit(operations: 1)
        _ = try test.claim()
        let before = try test.state()
        try test.command("HINCRBY", test.store.keys.control, "seen", "3600000")
        try test.heartbeat()
        let after = try test.state()
        #expect(after.leaseClock == before.leaseClock)
        #expect(try #require(after.seen) < #require(before.seen) + 3_000_000)
    }

    @Test func expiresAtMostFiftyLeasesPerCall() throws {
        let test = try TestStore()
        let id = try test.submit(size: 1, operations: 120)
        #expect(try test.claim(operations: 120).count == 120)
        try test.pass(seconds: 16)
        for left in [70, 20, 0] {
            try test.heartbeat()
            #expect(try test.batch(id).executing.count == left)
        }
    }

    @Test func countsLeaseExpiriesButNotReleases() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        for leaseExpiries in 0..<4 {
            let claimed = try test.claim()[0]
            #expect(claimed.leaseExpiries == leaseExpiries)
            try test.report(claimed.held, "...")  // a photo of the operation starts
            try test.pass(seconds: 16)
            try test.heartbeat()
        }
        let held = try test.claim()[0].held
        #expect(try test.store.perform(test.store.release(held, worker: "worker")) == .queued)
        #expect(try test.batch(id).leaseExpiries == [1: 4])

        let again = try test.claim()[0]
        try test.report(again.held, "D..")
        #expect(try test.batch(id).leaseExpiries == [1: 4])
        try test.report(again.held, "F..")
        #expect(try test.batch(id).leaseExpiries == [1: 2])  // a photo became final
        try test.report(again.held, "FFF")
        #expect(try test.batch(id).leaseExpiries.isEmpty)
    }

    @Test func quarantinedOperationIsChargedOnlyForExpiriesDuringACrashProbe() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        func expire(_ reports: String...) throws -> Int? {
            let held = try test.claim()[0].held
            for report in reports { try test.report(held, report) }
            try test.pass(seconds: 16)
            try test.heartbeat()
            return try test.batch(id).leaseExpiries[1]
        }
        #expect(try [expire(), expire()] == [1, 2], "below two, every lease expiry must count")
        #expect(try expire() == 2, "an expiry without a crash probe must not count")
        #expect(try expire("...", "N..") == 2, "an expiry after the crash probe must not count")
        #expect(try expire("...", "F..") == 2, "an expiry after a successful crash probe must not count")
        #expect(try expire("...") == 3)
        #expect(try expire("...", "N..", "...") == 4)
        #expect(try expire() == 4)
    }

    @Test func expireLeasesExpiresAllLeasesAtOnce() throws {
        let test = try TestStore()
        let id = try test.submit(size: 1, operations: 150)
        _ = try test.claim(operations: 150)
        #expect(try test.store.perform(test.store.expireLeases()))
        #expect(try test.store.perform(test.store.expireLeases()) == false)
        for _ in 1...3 { try test.heartbeat() }
        let batch = try test.batch(id)
        #expect(batch.queue.count == 150)
        #expect(batch.leaseExpiries.count == 150)
    }

    @Test func removesWorkersWithoutAHeartbeatForAnHour() throws {
        let test = try TestStore()
        for number in 1...12 {
            _ = try test.store.perform(test.store.heartbeat(worker: "silent-\(number)", facts: [("host", "here")]))
        }
        let now = try test.store.time()
        for number in 1...12 {
            try test.command("ZADD", test.store.keys.workers, "\(now - 3_600_001)", "silent-\(number)")
        }
        try test.heartbeat("silent-1")  // the worker is back
        try test.heartbeat("new")
        #expect(try test.state().workers.keys.sorted() == ["new", "silent-1"])
        #expect(try test.state().workerHashes.keys.sorted() == ["silent-1"])
        let facts = try test.store.workers().map(\.id)
        #expect(facts.sorted() == ["new", "silent-1"])
    }

    @Test func leaveRemovesAllKeysOfAWorker() throws {
        let test = try TestStore()
        _ = try test.claim("worker")
        try test.store.perform(test.store.leave(worker: "worker"))
        #expect(try test.state().workers.isEmpty)
        #expect(try test.state().workerHashes.isEmpty)
    }
}

extension ReleaseReply {
    fileprivate var isCancelled: Bool { if case .cancelled = self { true } else { false } }
}
