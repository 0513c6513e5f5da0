import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct DependencyTests {
    @Test func waitingBatchIsNotClaimedDespiteItsPriority() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1) { $0.priority = .veryLow }
        let urgent = try test.submit("urgent", operations: 1, after: [first]) { $0.priority = .veryHigh }
        #expect(try test.batch(urgent).state == .waiting)
        #expect(try test.claim().map(\.held.batch) == [first])
        #expect(try test.claim("other").isEmpty)
    }

    @Test func cancelledDependencyCountsAsFinishedButNotAsSucceeded() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1)
        let second = try test.submit("second", operations: 1, after: [first])
        let picky = try test.submit("picky", operations: 1, after: [first]) { $0.afterSuccess = true }
        let behind = try test.submit("behind", operations: 1, after: [picky]) { $0.afterSuccess = true }
        _ = try test.store.perform(test.store.cancel(first))
        try test.heartbeat()
        #expect(try test.batch(second).state == .ready)
        let cancelled = try test.batch(picky)
        #expect(cancelled.isCancelled && cancelled.reason == "first did not succeed" && cancelled.state == .finished)
        try test.heartbeat()
        #expect(try test.batch(behind).reason == "picky did not succeed")
        #expect(try test.claim().map(\.held.batch) == [second])
    }

    @Test func dependencyWithFailuresDidNotSucceed() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1)
        let second = try test.submit("second", operations: 1, after: [first])
        let picky = try test.submit("picky", operations: 1, after: [first]) { $0.afterSuccess = true }
        try test.report(try test.claim()[0].held, "FFa")
        try test.heartbeat()
        #expect(try test.batch(picky).isCancelled)
        #expect(try test.batch(second).state == .ready)

        // Dependents that are added later are treated in the same way.
        let late = try test.submit("late", operations: 1)
        let version = try test.store.dependencyVersion()
        #expect(try test.store.perform(test.store.addDependency(late, on: first, version: version)) == .finishedBefore)
        #expect(
            try test.store.perform(test.store.submit(BatchID("hopeless"), afterSuccess(), after: [first])).isSubmitted)
        #expect(try test.batch(BatchID("hopeless")).reason == "first did not succeed")
    }

    private func afterSuccess() -> BatchOptions {
        var options = BatchOptions()
        options.afterSuccess = true
        return options
    }

    @Test func concurrentAdditionsCannotCreateACycle() throws {
        let test = try TestStore()
        let (one, two) = (try test.submit("one", operations: 1), try test.submit("two", operations: 1))
        let version = try test.store.dependencyVersion()
        #expect(try test.store.perform(test.store.addDependency(one, on: two, version: version)) == .added(isNew: true))
        #expect(try test.store.perform(test.store.addDependency(two, on: one, version: version)) == .moved)
        #expect(
            try test.store.perform(test.store.addDependency(one, on: two, version: version)) == .added(isNew: false))
        #expect(try test.store.perform(test.store.addDependency(one, on: one, version: version)) == .itself)
        #expect(try test.batch(one).dependencies == [two] && test.batch(two).dependents.order == [one])
        #expect(try test.store.perform(test.store.removeDependency(one, from: two)) == .removed(isNew: true))
        #expect(try test.store.perform(test.store.removeDependency(one, from: two)) == .removed(isNew: false))
        #expect(try test.batch(one).state == .ready)
        #expect(try test.store.dependencyVersion() != version)
    }

    @Test func startedBatchCannotGetADependency() throws {
        let test = try TestStore()
        let one = try test.submit("one", operations: 1)
        let held = try test.claim()[0].held
        let two = try test.submit("two", operations: 1)
        #expect(try test.store.perform(test.store.addDependency(one, on: two, version: 0)) == .started)
        try test.report(held, "FFa")
        #expect(try test.store.perform(test.store.addDependency(one, on: two, version: 0)) == .started)
        _ = try test.store.perform(test.store.retry(one, from: 1, through: 1))
        #expect(try test.batch(one).state == .ready)
        #expect(try test.store.perform(test.store.addDependency(one, on: two, version: 0)) == .started)
    }

    @Test func releases10000DependentsInSteps() throws {
        let test = try TestStore()
        let first = try test.submit("first", sealed: false)
        let ids = (1...10_000).map { BatchID("d\($0)")! }
        let replies = try test.store.perform(ids.map { test.store.submit($0, BatchOptions(), after: [first]) })
        #expect(replies.allSatisfy { $0.isSubmitted })
        #expect(try test.store.perform(test.store.seal(first, operations: 0, photos: 0)) == .sealed)
        var left = 10_000
        var beats = 0
        while beats < 200 {
            beats += 1
            let reply = try test.store.perform(test.store.heartbeat(worker: nil))
            let now = try #require(try test.command("SCARD", test.store.keys.dependents(first)).int)
            #expect(left - now <= 100 && (now < left || now == 0))
            let isReleasing = try test.command("EXISTS", test.store.keys.releases) == .integer(1)
            #expect(reply.hasMore == isReleasing)
            left = now
            if !reply.hasMore { break }
            if beats == 3 {
                let retry = test.store.retry(first, from: 1, through: 1)
                #expect(try test.store.perform(retry) == .busy)
            }
        }
        #expect(left == 0 && beats <= 102)
        #expect(try test.store.facts(of: ids).allSatisfy { $0.state == .ready })
    }

    @Test func forgetsABatchWithManyDependentsInSteps() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1)
        let ids = (1...250).map { BatchID("d\($0)")! }
        #expect(
            try test.store.perform(ids.map { test.store.submit($0, BatchOptions(), after: [first]) }).allSatisfy {
                $0.isSubmitted
            })
        let forget = test.store.forget(first, unfinished: true)
        #expect(try test.store.perform(forget) == .more)
        #expect(try test.state().batches[first]?.dependents.order.count == 150)
        // If the client that began to forget the batch has exited, heartbeats do the next steps. A heartbeat reply
        // tells whether steps remain.
        #expect(try test.store.perform(test.store.heartbeat(worker: nil)).hasMore)
        #expect(try !test.store.perform(test.store.heartbeat(worker: nil)).hasMore)
        #expect(try test.store.perform(forget) == .gone)
        #expect(try test.store.facts(of: ids).allSatisfy { $0.state == .ready })
        #expect(try test.state().batches.count == 250)
    }

    @Test func forgettingABatchReleasesItsDependents() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1)
        let second = try test.submit("second", operations: 1, after: [first])
        #expect(try test.store.perform(test.store.forget(first, unfinished: true)) == .forgotten)
        #expect(try test.batch(second).state == .ready)
        #expect(
            try test.store.perform(test.store.submit(BatchID("third"), BatchOptions(), after: [second, first]))
                == .gone(first))
        #expect(try test.state().batches.count == 1)
    }
}

extension SubmitReply {
    var isSubmitted: Bool { if case .submitted = self { true } else { false } }
}
