import DarkroomModel
import DarkroomTestSupport
import Testing

@testable import DarkroomStore
@testable import StoreInspection

@Suite(.redisServer) struct FocusTests {
    @Test func claimsTheFocusFirst() throws {
        let test = try TestStore()
        let id = try test.submit(size: 10, operations: 9)
        let focus = BatchControls.Focus(45...60)
        #expect(try test.store.perform(test.store.focus(id, focus)) == .done(isNew: true, photos: 90))
        #expect(try test.store.perform(test.store.focus(id, focus)) == .done(isNew: false, photos: 90))
        guard
            case .claimed(let claimed) = try test.store.perform(test.store.claim(worker: "w", number: 1, operations: 4))
        else { throw TestFailure(description: "the reply to the claim is OLD") }
        #expect(claimed.operations.map(\.held.number) == [5, 6, 7, 1])
        #expect(claimed.controls[id]?.focus == focus && claimed.version == 1)
        // The latest focus applies.
        _ = try test.store.perform(test.store.focus(id, BatchControls.Focus(85...85)))
        #expect(try test.claim(operations: 2).map(\.held.number) == [9, 2])
        #expect(try test.store.perform(test.store.focus(id, nil)) == .done(isNew: true, photos: 90))
        #expect(try test.claim(operations: 1).map(\.held.number) == [3])
    }

    @Test func exclusiveFocusAllowsNoOtherClaims() throws {
        let test = try TestStore()
        let id = try test.submit(size: 10, operations: 3, sealed: false)
        _ = try test.store.perform(test.store.focus(id, BatchControls.Focus(35...44, only: true)))
        #expect(try test.claim().isEmpty)
        #expect(try test.state().readyQueues.isEmpty)
        // The focus includes operations that are fed later.
        _ = try test.store.perform([4, 5, 6].map { test.feeding(id, $0, photos: 10) })
        let held = try test.claim().map(\.held)
        #expect(held.map(\.number) == [4, 5])
        #expect(try test.state().readyQueues.isEmpty)
        // A released operation is in focus again.
        _ = try test.store.perform(test.store.release(held[1], worker: "worker"))
        #expect(try test.claim().map(\.held.number) == [5])
        _ = try test.store.perform(test.store.focus(id, nil))
        #expect(try test.claim().map(\.held.number) == [1, 2, 3, 6])
    }

    @Test func claimCanBeLimitedToTheFocusOfABatch() throws {
        let test = try TestStore()
        try test.submit("plain", operations: 2) { $0.priority = .veryHigh }
        let focused = try test.submit("focused", operations: 3)
        let low = try test.submit("low", operations: 3) { $0.priority = .low }
        for id in [focused, low] { _ = try test.store.perform(test.store.focus(id, BatchControls.Focus(3...5))) }
        func claimed(_ number: Int, _ focus: BatchID, lowest: BatchPriority = .veryLow) throws -> [String] {
            let call = test.store.claim(worker: "w", number: number, lowest: lowest, focus: focus)
            return try test.claimed(call).operations.map { "\($0.held.batch)/\($0.held.number)" }
        }
        #expect(try claimed(1, focused, lowest: .normal) == ["focused/2"])
        #expect(try claimed(2, low, lowest: .normal) == [])
        #expect(try claimed(3, low) == ["low/2"])
        #expect(try claimed(4, low) == [])
        #expect(try claimed(5, BatchID("nobody")) == [])
    }

    @Test func claimFindsAFocusBehindManyReadyBatches() throws {
        let test = try TestStore()
        for number in 1...150 { try test.submit("other-\(number)", size: 1, operations: 1) }
        let focused = try test.submit("focused", operations: 3)
        _ = try test.store.perform(test.store.focus(focused, BatchControls.Focus(3...5)))
        let call = test.store.claim(worker: "w", number: 1, operations: 1, focus: focused)
        #expect(try test.claimed(call).operations.map { "\($0.held.batch)/\($0.held.number)" } == ["focused/2"])
    }

    @Test func endOfABatchClearsItsFocus() throws {
        let test = try TestStore()
        let id = try test.submit(operations: 1)
        _ = try test.store.perform(test.store.focus(id, BatchControls.Focus(0...100, only: true)))
        try test.develop("a")
        #expect(try test.batch(id).focus == nil)
        #expect(try test.store.perform(test.store.focus(id, nil)) == .finished)
        _ = try test.store.perform(test.store.retry(id, from: 1, through: 1))
        #expect(try test.claim().count == 1)
    }

    /// A page that has left must not clear the focus that another page has set since then.
    @Test func clearsOnlyTheNamedFocus() throws {
        let test = try TestStore()
        let id = try test.submit(size: 10, operations: 9)
        func clear(_ photos: ClosedRange<Int>) throws -> FocusReply {
            try test.store.perform(test.store.clearFocus(id, ifStill: photos))
        }
        #expect(try clear(1...2) == .done(isNew: false, photos: 90))
        _ = try test.store.perform(test.store.focus(id, .init(45...60)))
        #expect(try clear(45...61) == .done(isNew: false, photos: 90))
        #expect(try test.batch(id).focus == .init(45...60))
        #expect(try clear(45...60) == .done(isNew: true, photos: 90))
        _ = try test.store.perform(test.store.focus(id, .init(45...60, only: true)))
        #expect(try clear(45...60) == .done(isNew: false, photos: 90))
    }
}
