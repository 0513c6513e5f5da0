import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import Testing

@testable import DarkroomCoordinator

/// Batches that wait for other batches.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct DependTests {
    let fixture: ControlFixture
    var control: BatchController { fixture.control }

    init() throws { fixture = try ControlFixture() }

    @Test func batchWaitsUntilAllItsDependenciesHaveFinished() throws {
        let first = try fixture.submit(1)
        let second = try fixture.submit(2)
        let last = try fixture.submit(3)
        var depended = try control.depend(last, on: [first, second])
        #expect(depended == Depended(added: [first, second]))
        depended = try control.depend(last, on: [second])
        #expect(depended == Depended(waitedBefore: [second]))
        var facts = try fixture.facts(last)
        #expect(facts.state == .waiting && facts.waitsFor == [first, second])
        _ = try control.cancel(first)
        try fixture.develop("Fa")
        // Cancelled batches and batches with failed photos also count as finished.
        while try fixture.store.perform(fixture.store.heartbeat(worker: nil)).hasMore {}
        facts = try fixture.facts(last)
        #expect(facts.state == .finished && facts.waitsFor.isEmpty)
    }

    @Test func finishedDependencyIsNotWaitedFor() throws {
        let first = try fixture.submit(1)
        try fixture.develop("F")
        let second = try fixture.submit(2)
        #expect(try control.depend(second, on: [first]) == Depended(finishedBefore: [first]))
        #expect(try fixture.facts(second).state == .ready)
    }

    @Test func batchAfterSuccessIsCancelledIfADependencyDidNotSucceed() throws {
        let first = try fixture.submit(1)
        try fixture.develop("a")
        let other = try fixture.submit(2)
        let second = try fixture.submit(3) { $0.afterSuccess = true }
        #expect(try control.depend(second, on: [first, other]) == Depended(cancelledBy: first))
        let facts = try fixture.facts(second)
        #expect(facts.cancelled && facts.cancelledReason == "\(first) did not succeed")
    }

    @Test func dependencyIsRemoved() throws {
        let ids = try (1...3).map { try fixture.submit($0) }
        try control.depend(ids[2], on: [ids[0], ids[1]])
        #expect(try control.removeDependency(ids[2], on: [ids[0]]))
        #expect(try !control.removeDependency(ids[2], on: [ids[0]]))
        #expect(try fixture.facts(ids[2]).waitsFor == [ids[1]])
        #expect(try control.removeDependency(ids[2], on: [ids[0], ids[1]]))
        #expect(try fixture.facts(ids[2]).state == .ready)
    }

    @Test func circleIsRefusedWithItsPath() throws {
        let ids = try (0..<5).map { try fixture.submit($0) }
        for number in 1..<5 { try control.depend(ids[number], on: [ids[number - 1]]) }
        let refused = try #require(refusal { try control.depend(ids[0], on: [ids[4]]) })
        #expect(refused.code == .circularDependency)
        let path = stride(from: 4, to: 0, by: -1).map { "\(ids[$0]) waits for \(ids[$0 - 1])" }
        #expect(refused.description.contains("\(ids[0]) cannot wait for \(ids[4]): " + path.joined(separator: ", ")))
        #expect(refused.remedies == [.removeDependency(of: ids[1], on: ids[0])])
        #expect(try fixture.facts(ids[0]).waitsFor.isEmpty)
    }

    @Test func longCircleIsFound() throws {
        let ids = try (0..<500).map { try fixture.submit($0) }
        // Adds the dependencies without the search for circles, as if many calls added them at the same time.
        var version = try fixture.store.dependencyVersion()
        for number in 1..<500 {
            let call = fixture.store.addDependency(ids[number], on: ids[number - 1], version: version)
            #expect(try fixture.store.perform(call) == .added(isNew: true))
            version += 1
        }
        #expect(refusal { try control.depend(ids[0], on: [ids[499]]) }?.code == .circularDependency)
        // Several paths to one batch are not a circle.
        try control.depend(ids[499], on: Array(ids[0..<100]))
    }

    @Test func twoDependenciesAddedAtOnceMakeNoCircle() throws {
        for round in 0..<20 {
            let first = try fixture.submit(2 * round)
            let second = try fixture.submit(2 * round + 1)
            let attempts = [(first, second), (second, first)].map { [control] id, other in
                OnThread { () -> CoordinatorError.Code? in
                    do {
                        try control.depend(id, on: [other])
                        return nil
                    } catch {
                        return (error as? CoordinatorError)?.code
                    }
                }
            }
            let outcomes = try attempts.map { try #require(try $0.value()) }
            #expect(outcomes.count { $0 == nil } == 1, "\(outcomes)")
            #expect(outcomes.count { $0 == .circularDependency } == 1, "\(outcomes)")
        }
    }

    @Test func errorInOneDependencyAddsNone() throws {
        let ids = try (0..<3).map { try fixture.submit($0) }
        try control.depend(ids[2], on: [ids[0]])
        #expect(refusal { try control.depend(ids[0], on: [ids[1], ids[2]]) }?.code == .circularDependency)
        let gone = BatchID("gone")
        let refused = refusal { try control.depend(ids[0], on: [ids[1], gone]) }
        #expect(refused?.code == .batchGone && refused?.description.contains("batch gone is not in Redis") == true)
        #expect(refusal { try control.depend(ids[0], on: [ids[1], ids[0]]) }?.code == .itself)
        #expect(try fixture.facts(ids[0]).waitsFor.isEmpty)
        #expect(refusal { try control.depend(gone, on: [ids[1]]) }?.code == .batchGone)
        #expect(refusal { _ = try control.removeDependency(gone, on: [ids[1]]) }?.code == .batchGone)
    }

    @Test func startedBatchCannotWait() throws {
        let first = try fixture.submit(1)
        _ = try fixture.claim()
        let second = try fixture.submit(2)
        let refused = refusal { try control.depend(first, on: [second]) }
        #expect(refused?.code == .started)
        #expect(refused?.remedies == [.suspend(first)])
        let cancelled = try fixture.submit(3)
        _ = try control.cancel(cancelled)
        #expect(refusal { try control.depend(cancelled, on: [second]) }?.code == .cancelled)
    }
}
