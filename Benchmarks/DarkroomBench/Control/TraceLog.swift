import Darkroom
import DarkroomWorker
import DarkroomWorkerState
import Foundation

/// The trace events of the workers of a benchmark.
final class TraceLog: @unchecked Sendable {  // `events` is only used while `condition` is locked
    private let condition = NSCondition()
    private var events: [TraceEvent] = []

    /// Adds an event that the observer of a worker has received.
    func note(_ event: TraceEvent) {
        condition.lock()
        events.append(event)
        condition.broadcast()
        condition.unlock()
    }

    /// The events of a batch that have arrived so far, in order.
    func of(_ batch: BatchID) -> [TraceEvent] {
        condition.lock()
        defer { condition.unlock() }
        return events.filter { $0.batch == batch }
    }

    func clear() {
        condition.lock()
        events.removeAll()
        condition.unlock()
    }

    /// Blocks until the events of `batch` satisfy `isMet`.
    /// - Throws: ``BenchError``, whose message contains `what`, if that takes longer than `limit` seconds.
    func wait(
        for what: String, of batch: BatchID, limit: TimeInterval = 60, until isMet: ([TraceEvent]) -> Bool
    ) throws -> [TraceEvent] {
        let deadline = Date(timeIntervalSinceNow: limit)
        condition.lock()
        defer { condition.unlock() }
        while true {
            let own = events.filter { $0.batch == batch }
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
    /// The number of photos that have more events of the kind `began` than of the kind `ended`. A photo that is
    /// cancelled before it starts has only an `ended` event.
    func running(_ began: TraceEvent.Kind, _ ended: TraceEvent.Kind) -> Int {
        var running: [Int: Int] = [:]
        for event in self {
            if event.kind == began { running[event.index, default: 0] += 1 }
            if event.kind == ended { running[event.index, default: 0] -= 1 }
        }
        return running.values.count { $0 > 0 }
    }
}
