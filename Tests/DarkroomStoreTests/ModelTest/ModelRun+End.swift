import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// The end of a run.
extension ModelRun {
    /// Finishes all batches with one worker, forgets the batches, and checks that none of their keys remains.
    func drain() throws {
        for part in QueuePart.allCases { try send(.suspend(nil, part, false)) }
        for (id, content) in bench.state.batches.sorted(by: { $0.key < $1.key }) {
            for part in content.suspended.sorted(by: { $0.rawValue < $1.rawValue }) {
                try send(.suspend(id, part, false))
            }
            if content.focus?.only == true { try send(.focus(id, nil)) }
            try send(.seal(id, operations: content.operations, photos: content.stateCodes.count))
        }
        try bench.tamper(["HINCRBY", "control", "lease.clock", "1000000000"]) { $0.leaseClock += 1_000_000_000 }
        try bench.tamper(["HINCRBY", "control", "retention.clock", "3600000"]) { $0.retentionClock += 3_600_000 }
        var rounds = 0
        while bench.state.batches.values.contains(where: { $0.state != .finished }) || !bench.state.releases.isEmpty {
            rounds += 1
            guard rounds < 1000 else { throw bench.failure(["1000 claims do not finish all batches"]) }
            guard case .claim(.claimed(let claimed)) = try send(.claim(.init(worker: "last", number: rounds)))
            else { throw bench.failure(["the reply to the claim of the last worker is OLD"]) }
            for operation in claimed.operations {
                let stateCodes = operation.stateCodes.map { [78, 68].contains($0) ? UInt8(ascii: "F") : $0 }
                try send(.report(.init(held: operation.held, worker: "last", stateCodes: stateCodes)))
            }
        }
        for id in bench.state.batches.keys.sorted() { try send(.forget(id, unfinished: false)) }
        for worker in bench.state.workers.keys.sorted() { try send(.leave(worker: worker)) }
        let left = bench.state
        guard left.leases.isEmpty, left.readyQueues.isEmpty, left.outputs.isEmpty, left.names.isEmpty,
            left.expiring.isEmpty,
            left.releases.isEmpty, left.deferred.isEmpty, left.webhooks.isEmpty
        else { throw bench.failure(["keys of forgotten batches remain"]) }
    }
}
