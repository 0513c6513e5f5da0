import Darkroom
import DarkroomWorker
import DarkroomWorkerState
import Foundation

/// The trace events of the workers of a benchmark.
final class TraceLog: @unchecked Sendable {  // `events` is only used while `condition` is locked
    private let condition = NSCondition()
    private var events: [TraceEvent] = []

    /// Adds an event; for `WorkerConfiguration.observer`.
    func note(_ event: TraceEvent) {
        condition.lock()
        events.append(event)
        condition.broadcast()
        condition.unlock()
    }

    /// The events of a batch so far, in the order of their arrival.
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
    /// - Throws: ``BenchError`` with `what` if that takes longer than `limit`, in seconds.
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
    /// The number of photos whose action of this kind is running. An action that is cancelled before it starts has an
    /// end event without a start event.
    func running(_ began: TraceEvent.Kind, _ ended: TraceEvent.Kind) -> Int {
        var running: [Int: Int] = [:]
        for event in self {
            if event.kind == began { running[event.index, default: 0] += 1 }
            if event.kind == ended { running[event.index, default: 0] -= 1 }
        }
        return running.values.count { $0 > 0 }
    }
}
