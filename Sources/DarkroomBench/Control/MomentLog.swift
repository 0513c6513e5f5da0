import Darkroom
import DarkroomWorker
import DarkroomWorkerState
import Foundation

/// What the workers of a benchmark did and when, as they tell it.
final class MomentLog: @unchecked Sendable {  // `moments` is only touched while `condition` is locked
    private let condition = NSCondition()
    private var moments: [TraceEvent] = []

    /// For `WorkerConfiguration.observer`.
    func note(_ moment: TraceEvent) {
        condition.lock()
        moments.append(moment)
        condition.broadcast()
        condition.unlock()
    }

    /// Everything of a batch so far, in the order in which it came.
    func of(_ batch: BatchID) -> [TraceEvent] {
        condition.lock()
        defer { condition.unlock() }
        return moments.filter { $0.batch == batch }
    }

    /// Forgets what was noted.
    func clear() {
        condition.lock()
        moments.removeAll()
        condition.unlock()
    }

    /// Blocks until the moments of `batch` satisfy `isMet`.
    /// - Throws: when that takes more than `limit`, with what was waited for.
    func wait(
        for what: String, of batch: BatchID, limit: TimeInterval = 60, until isMet: ([TraceEvent]) -> Bool
    ) throws -> [TraceEvent] {
        let deadline = Date(timeIntervalSinceNow: limit)
        condition.lock()
        defer { condition.unlock() }
        while true {
            let own = moments.filter { $0.batch == batch }
            if isMet(own) { return own }
            guard condition.wait(until: deadline) else {
                let kinds = [TraceEvent.Kind.downloadBegan, .downloadEnded, .filtrationBegan, .filtrationEnded]
                let found = kinds.map { kind in "\(own.count { $0.kind == kind })" }.joined(separator: ", ")
                throw BenchError(
                    "waited \(Int(limit)) s for \(what) of batch \(batch), found downloads begun, ended, filtrations begun, "
                        + "ended: \(found)")
            }
        }
    }
}

extension [TraceEvent] {
    /// How many photos have something of this kind running. What is called off before it begins ends, too.
    func running(_ began: TraceEvent.Kind, _ ended: TraceEvent.Kind) -> Int {
        var running: [Int: Int] = [:]
        for moment in self {
            if moment.kind == began { running[moment.index, default: 0] += 1 }
            if moment.kind == ended { running[moment.index, default: 0] -= 1 }
        }
        return running.values.count { $0 > 0 }
    }
}
