import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

/// Priority changes of queued batches.
@Suite(.redisServer) struct PriorityTests {
    @Test func newPriorityAppliesToTheNextClaim() throws {
        let test = try TestStore()
        _ = try test.submit("first", operations: 1)
        let second = try test.submit("second", operations: 1)
        #expect(try test.store.perform(test.store.prioritize(second, .veryHigh)) == .done(isNew: true))
        #expect(try test.store.perform(test.store.prioritize(second, .veryHigh)) == .done(isNew: false))
        #expect(try test.claim(operations: 1).map(\.held.batch.description) == ["second"])
        _ = try test.state()
    }
}
