import DarkroomModel
import DarkroomStore
import Testing

@testable import DarkroomWorker

@Suite struct RefusalsTests {
    let start = ContinuousClock.now
    let one = BatchID("one")
    let two = BatchID("two")
    let three = BatchID("three")

    /// The set of refused batches that Redis stores. Each claim sends the changes that update this set.
    private struct Kept {
        var batches: Set<BatchID> = []
        mutating func take(_ changes: RefusalChanges) {
            if changes.replacesAll { batches = [] }
            batches.formUnion(changes.added)
            batches.subtract(changes.removed)
        }
    }

    private func claim(_ refusals: inout Refusals, _ kept: inout Kept, meanwhile: (inout Refusals) -> Void = { _ in }) {
        let changes = refusals.changes
        meanwhile(&refusals)
        kept.take(changes)
        refusals.sent(changes, count: kept.batches.count)
    }

    private func refuse(_ refusals: inout Refusals, _ batches: BatchID...) {
        for batch in batches {
            _ = refusals.refuse(
                batch, Refusal(.other, "no such filter"), until: .check(BatchOptions(), taken: 0), start)
        }
    }

    @Test func claimSendsChangedRefusals() {
        var (refusals, kept) = (Refusals(), Kept(batches: [three]))
        refuse(&refusals, one, two)
        #expect(refusals.changes.replacesAll, "the first claim must replace the refusals stored in Redis")
        claim(&refusals, &kept)
        #expect(kept.batches == [one, two])
        #expect(refusals.changes == RefusalChanges())
        refusals.withdraw(one)
        refuse(&refusals, three)
        #expect(refusals.changes == RefusalChanges(added: [three], removed: [one]))
        claim(&refusals, &kept)
        #expect(kept.batches == [two, three])
        #expect(refusals.changes == RefusalChanges())
    }

    @Test func changesDuringAClaimAreSentByTheNextClaim() {
        var (refusals, kept) = (Refusals(), Kept())
        refuse(&refusals, one)
        claim(&refusals, &kept) { refusals in
            refusals.withdraw(one)
            refuse(&refusals, two)
        }
        #expect(refusals.changes == RefusalChanges(added: [two], removed: [one]))
        claim(&refusals, &kept)
        #expect(kept.batches == [two])
        claim(&refusals, &kept) { refuse(&$0, two) }
        claim(&refusals, &kept)
        refusals.withdraw(two)
        claim(&refusals, &kept) { refuse(&$0, two) }
        claim(&refusals, &kept)
        claim(&refusals, &kept)
        #expect(kept.batches == [two])
    }

    @Test func sendsAllRefusalsAgainIfRedisLostThem() {
        var (refusals, kept) = (Refusals(), Kept())
        refuse(&refusals, one, two)
        claim(&refusals, &kept)
        kept.batches = []
        claim(&refusals, &kept)
        claim(&refusals, &kept)
        #expect(kept.batches == [one, two])
        // After a lost connection, Redis may store different batches, but as many as before.
        kept.batches = [two, three]
        refusals.sendAll()
        claim(&refusals, &kept)
        #expect(kept.batches == [one, two])
    }

    @Test func sendsManyRefusalsInSeveralClaims() {
        var (refusals, kept) = (Refusals(), Kept())
        let batches = (0..<2500).map { BatchID("\($0)")! }
        for batch in batches { refuse(&refusals, batch) }
        for _ in 0..<3 { claim(&refusals, &kept) }
        #expect(kept.batches == Set(batches))
        #expect(refusals.changes == RefusalChanges())
        for batch in batches { refusals.withdraw(batch) }
        for _ in 0..<3 { claim(&refusals, &kept) }
        #expect(kept.batches.isEmpty)
    }

    @Test func limitsTheNumberOfStoredRefusals() {
        var refusals = Refusals()
        for number in 0..<Refusals.limit + 10 {
            _ = refusals.refuse(
                BatchID("\(number)")!, Refusal(.other, "damaged"), until: .time, start + .milliseconds(number))
        }
        #expect(refusals.kept.count == Refusals.limit)
        // Batches above the limit still count as refused, so that the worker does not claim them repeatedly.
        #expect(["0", "\(Refusals.limit + 9)"].compactMap { BatchID($0) }.allSatisfy(refusals.contains))
        #expect(refusals.batches.count == Refusals.limit + 10)
        #expect(refusals.due(start + .seconds(75)).count == 1000)
        for batch in refusals.kept.keys { refusals.withdraw(batch) }
        #expect(refusals.due(start + .seconds(75)).isEmpty)
        #expect(refusals.due(start + .seconds(615)).count == 10)
    }

    @Test func earliestDueRefusalIsCheckedFirst() {
        var refusals = Refusals()
        let batches = (0..<20).map { BatchID("\($0)")! }
        for (number, batch) in batches.enumerated() {
            _ = refusals.refuse(batch, Refusal(.other, "damaged"), until: .time, start - .seconds(number))
        }
        #expect(refusals.due(start + .seconds(60)).map(\.batch) == batches.reversed())
    }

    @Test func checksRefusedBatchesPeriodically() {
        var refusals = Refusals()
        refuse(&refusals, one)
        _ = refusals.refuse(two, Refusal(.other, "damaged"), until: .time, start)
        #expect(refusals.due(start).isEmpty)
        #expect(refusals.due(start + Refusals.checkInterval).map(\.batch) == [one])
        refusals.keep(one, Refusal(.other, "still no such filter"), start + Refusals.checkInterval)
        #expect(refusals.due(start + Refusals.checkInterval).isEmpty)
        #expect(refusals.kept[one]?.reason == "still no such filter")
        refusals.checkAgain(start + .seconds(6))
        #expect(refusals.due(start + .seconds(6)).map(\.batch) == [one])
        #expect(Set(refusals.due(start + .seconds(60)).map(\.batch)) == [one, two])
    }
}
