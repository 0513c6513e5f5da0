import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct SuspendTests {
    @Test(arguments: [QueuePart.everything, .downloads])
    func suspendedBatchIsNotClaimed(_ part: QueuePart) throws {
        let test = try TestStore()
        let id = try test.submit(operations: 3)
        let held = try test.claim(operations: 1)[0].held
        #expect(try test.store.perform(test.store.suspend(id, part, true)) == .done(isNew: true))
        #expect(try test.store.perform(test.store.suspend(id, part, true)) == .done(isNew: false))
        #expect(try test.claim().isEmpty)
        // The held operation continues. A released operation stays in the queue.
        #expect(try test.report(held, "FD.") == .accepted(ended: false, stateCodes: nil, version: 1))
        #expect(try test.store.perform(test.store.release(held, worker: "worker")) == .queued)
        #expect(try test.claim().isEmpty)
        #expect(try test.batch(id).queue == [1, 2, 3])
        #expect(try test.store.perform(test.store.suspend(id, part, false)) == .done(isNew: true))
        #expect(try test.claim().map(\.held.number) == [1, 2, 3])
    }

    @Test func downloadsContinueWhileFiltrationsAreSuspended() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        _ = try test.store.perform(test.store.suspend(id, .filtrations, true))
        _ = try test.store.perform(test.store.suspend(nil, .filtrations, true))
        guard case .claimed(let claimed) = try test.store.perform(test.store.claim(worker: "w", number: 1)) else {
            throw TestFailure(description: "the reply to the claim is OLD")
        }
        #expect(claimed.operations.count == 1 && claimed.cluster.areFiltrationsSuspended && claimed.version == 2)
        #expect(claimed.controls[id]?.areFiltrationsSuspended == true)
    }

    @Test(arguments: [QueuePart.everything, .downloads]) func suspendedClusterAllowsNoClaims(_ part: QueuePart)
        throws
    {
        let test = try TestStore()
        try test.submit(operations: 2)
        #expect(try test.store.perform(test.store.suspend(nil, part, true)) == .done(isNew: true))
        #expect(try test.claim().isEmpty)
        let controls = try test.store.clusterControls()
        #expect(controls.isSuspended == (part == .everything) && controls.areDownloadsSuspended == (part == .downloads))
        #expect(try test.store.perform(test.store.suspend(nil, part, false)) == .done(isNew: true))
        #expect(try test.store.perform(test.store.suspend(nil, part, false)) == .done(isNew: false))
        #expect(try test.claim().count == 2)
    }

    @Test func downloadedPhotosWithOriginalsSurviveALeaseExpiry() throws {
        let test = try TestStore()
        let plain = try test.submit("plain", operations: 1)
        let kept = try test.submit("kept", operations: 2) { $0.originals = "/originals" }
        let held = try test.claim().map(\.held)
        for operation in held { try test.report(operation, "DFD") }
        for operation in held where operation.number == 1 {
            #expect(try test.store.perform(test.store.release(operation, worker: "worker")) == .queued)
        }
        try test.pass(seconds: 16)  // the lease of the second operation expires
        try test.heartbeat()
        let claimed = try test.claim("other")
        func stateCodes(_ id: BatchID) -> [String] {
            claimed.filter { $0.held.batch == id }.map { String(decoding: $0.stateCodes, as: UTF8.self) }
        }
        #expect(stateCodes(plain) == ["NFN"] && stateCodes(kept) == ["DFD", "DFD"])
        #expect(try test.batch(kept).counters.downloaded == 4)
    }

    @Test func limitsApplyUntilCleared() throws {
        let test = try TestStore()
        #expect(try test.store.perform(test.store.setLimits(downloads: 16, filtrations: nil)))
        #expect(try test.store.perform(test.store.setLimits(downloads: nil, filtrations: 2)))
        #expect(try !test.store.perform(test.store.setLimits(downloads: 16, filtrations: 2)))
        let cluster = try test.store.clusterControls()
        #expect(cluster.downloads == 16 && cluster.filtrations == 2)
        #expect(try test.store.perform(test.store.heartbeat(worker: "w")).cluster == cluster)
        #expect(try test.store.perform(test.store.clearLimits()))
        #expect(try !test.store.perform(test.store.clearLimits()))
        #expect(try test.store.clusterControls() == ClusterControls())
    }
}
