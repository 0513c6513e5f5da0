import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore

/// The scripts that change what holds for batches and cluster, one by one.
@Suite(.redisServer) struct SteeringTests {
    @Test func aCancelledBatchFinishesWhenNothingOfItExecutes() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 3)
        let held = try test.claim(operations: 1)[0].held
        try test.report(held, "FND")
        #expect(try test.store.perform(test.store.cancel(id)) == .cancelled(isNew: true, isFinished: false))
        #expect(try test.claim().isEmpty)
        #expect(try test.report(held, "FFF") == .cancelled(letters: Array("FCC".utf8)))
        #expect(
            try test.store.perform(test.store.handback(held, worker: "worker"))
                == .cancelled(letters: Array("FCC".utf8)))
        let facts = try #require(try test.store.facts(of: id))
        #expect(facts.state == .finished)
        #expect(
            (facts.counts.filtered, facts.counts.cancelled, facts.counts.new, facts.counts.downloaded) == (1, 8, 0, 0))
        #expect(try test.store.perform(test.store.cancel(id)) == .cancelled(isNew: false, isFinished: true))
        _ = try test.state()
    }

    @Test func photosAreCancelledOneByOne() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 3)
        let held = try test.claim(operations: 1)[0].held
        let cancel = test.store.cancelPhotos(id, [1...5, 7...7])
        #expect(try test.store.perform(cancel) == .cancelled(6, wereFinal: 0))
        #expect(try test.store.perform(cancel) == .cancelled(0, wereFinal: 6))
        #expect(try test.store.perform(test.store.cancelPhotos(id, [8...9])) == .notFed(photos: 9))
        let beat = try test.store.perform(test.store.heartbeat(worker: "worker", held: [held]))
        #expect(beat.letters == [.init(batch: id, number: 1, letters: Array("NCC".utf8))])
        #expect(try test.batch(id).queue == [3])
        #expect(try test.report(held, "F..") == .accepted(ended: true, letters: nil, version: 1))
        #expect(try test.report(try test.claim()[0].held, "F.F") == .accepted(ended: true, letters: nil, version: 1))
        #expect(try test.store.facts(of: id)?.state == .finished)
        _ = try test.state()
    }

    @Test(arguments: [nil, "batch"]) func whatIsSuspendedHandsOutNothing(name: String?) throws {
        let test = try TestStore()
        let id = try test.submit("batch", operations: 2)
        let target = name.map { BatchID($0) }
        for part in [QueuePart.everything, .downloads] {
            #expect(try test.store.perform(test.store.suspend(target, part, true)) == .done(isNew: true))
            #expect(try test.store.perform(test.store.suspend(target, part, true)) == .done(isNew: false))
            #expect(try test.claim().isEmpty)
            #expect(try test.store.perform(test.store.suspend(target, part, false)) == .done(isNew: true))
        }
        #expect(try test.store.perform(test.store.suspend(target, .filtrations, true)) == .done(isNew: true))
        let held = try test.claim().map(\.held)
        #expect(held.map(\.number) == [1, 2])
        let beat = try test.store.perform(test.store.heartbeat(worker: "worker", held: held))
        #expect(beat.cluster.areFiltrationsSuspended == (target == nil))
        #expect(beat.steering[id]?.areFiltrationsSuspended == (target != nil))
        #expect(beat.version == 5)
        _ = try test.state()
    }

    @Test func aNewPriorityHoldsForTheNextClaim() throws {
        let test = try TestStore()
        _ = try test.submit("first", operations: 1)
        let second = try test.submit("second", operations: 1)
        #expect(try test.store.perform(test.store.prioritize(second, .veryHigh)) == .done(isNew: true))
        #expect(try test.store.perform(test.store.prioritize(second, .veryHigh)) == .done(isNew: false))
        #expect(try test.claim(operations: 1).map(\.held.batch.description) == ["second"])
        _ = try test.state()
    }

    @Test func theFocusIsHandedOutFirstAndWithOnlyAlone() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 9)
        #expect(try test.store.perform(test.store.focus(id, .init(10...12))) == .done(isNew: true, photos: 27))
        #expect(try test.claim(operations: 3).map(\.held.number) == [4, 5, 1])
        #expect(
            try test.store.perform(test.store.focus(id, .init(25...25, only: true))) == .done(isNew: true, photos: 27))
        #expect(try test.claim().map(\.held.number) == [9])
        #expect(try test.claim().isEmpty)
        _ = try test.state()
        #expect(try test.store.perform(test.store.focus(id, nil)) == .done(isNew: true, photos: 27))
        let focused = test.store.claim(worker: "full", number: 1, focused: true)
        #expect(try test.claimed(focused).operations.isEmpty)
        #expect(try test.claim().map(\.held.number) == [2, 3, 6, 7, 8])
    }

    @Test func aBatchWaitsForAnotherAlsoWhenThatWasCancelled() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1)
        let second = try test.submit("second", operations: 1)
        let third = try test.submit("third", operations: 1) { $0.afterSuccess = true }
        for id in [second, third] {
            let version = try test.store.dependencyVersion()
            #expect(try test.store.perform(test.store.depend(id, on: first, version: version)) == .added(isNew: true))
        }
        #expect(try test.store.perform(test.store.depend(first, on: third, version: 0)) == .moved)
        #expect(try test.store.facts(of: second)?.state == .waiting)
        #expect(try test.claim(operations: 1).map(\.held.batch) == [first])
        _ = try test.state()
        _ = try test.store.perform(test.store.cancel(first))
        _ = try test.store.perform(
            test.store.handback(test.claim().first?.held ?? .init(batch: first, number: 1, fence: 0), worker: "worker"))
        try test.pass(seconds: 100)
        try test.heartbeat()
        try test.heartbeat()
        #expect(try test.store.facts(of: second)?.state == .ready)
        #expect(try test.store.facts(of: third)?.cancelledReason == "first did not succeed")
        #expect(try test.claim().map(\.held.batch) == [second])
        _ = try test.state()
    }

    @Test func failedPhotosAreRetriedAndOnlyThey() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 2) { $0.webhook = "http://127.0.0.1/" }
        for operation in try test.claim() {
            try test.report(operation.held, operation.held.number == 1 ? "Fga" : "FFF")
        }
        var facts = try #require(try test.store.facts(of: id))
        #expect(facts.state == .finished && facts.failures == [.timeout: 1, .notAURL: 1])
        let due = try test.store.perform(test.store.heartbeat(worker: nil)).webhooks
        #expect(due.map(\.member) == ["\(id) 1"])
        #expect(
            try test.store.perform(test.store.retry(id, reasons: [.timeout]))
                == .retried(photos: 1, notKept: 0, next: nil))
        facts = try #require(try test.store.facts(of: id))
        #expect(facts.state == .ready && facts.failures == [.notAURL: 1] && facts.round == 2 && facts.counts.new == 1)
        _ = try test.state()
        let again = try test.claim()
        #expect(again.map { String(decoding: $0.letters, as: UTF8.self) } == ["FNa"])
        try test.report(again[0].held, ".F.")
        #expect(try test.store.facts(of: id)?.state == .finished)
        guard
            case .taken(let attempts, let score) = try test.store.perform(
                test.store.takeWebhook(due[0], for: .seconds(60)))
        else { throw TestFailure(description: "the webhook was not there") }
        #expect(attempts == 1)
        #expect(try test.store.perform(test.store.takeWebhook(due[0], for: .seconds(60))) == .moved)
        #expect(try test.store.perform(test.store.settleWebhook(due[0].member, score: score, retryAfter: nil)))
        #expect(try test.store.perform(test.store.heartbeat(worker: nil)).webhooks.map(\.round) == [2])
        _ = try test.state()
    }

    @Test func limitsHoldForTheCluster() throws {
        let test = try TestStore()
        #expect(try test.store.perform(test.store.setLimits(downloads: 4, filtrations: nil)))
        #expect(try test.store.perform(test.store.setLimits(downloads: nil, filtrations: 2)))
        #expect(try !test.store.perform(test.store.setLimits(downloads: 4, filtrations: 2)))
        let cluster = try test.store.clusterSteering()
        #expect((cluster.downloads, cluster.filtrations) == (4, 2))
        #expect(try test.store.perform(test.store.heartbeat(worker: nil)).cluster == cluster)
        #expect(try test.store.perform(test.store.clearLimits()))
        #expect(try test.store.clusterSteering() == ClusterSteering())
    }
}
