import DarkroomModel
import DarkroomStore

/// Batches whose output cannot be written for a while: nothing of them begins, as if they were suspended, and what is held of them is handed
/// back after a while, since other workers may be able to write it.
extension WorkerLedger {
    /// An obstacle, and who waits for it to go.
    struct OutputWait {
        let number: Int
        /// Who met it first.
        let batch: BatchID
        var obstacle: OutputObstacle
        /// The file system, where all that is written to it waits.
        var device: UInt?
        var batches: Set<BatchID>
        /// Temporary files that could not be removed.
        var left: [String] = []
        /// Since when nothing has been held of its batches.
        var unheldSince: ContinuousClock.Instant?
    }

    private static let maxLeft = 1000
    /// Of batches of which nothing is held an obstacle is forgotten after this long: they may be gone.
    private static let remembersUnheld = Duration.seconds(600)

    /// The batches whose output cannot be written now, and why.
    var barred: [BatchID: String] {
        var reasons: [BatchID: String] = [:]
        for wait in outputWaits {
            for batch in wait.batches where reasons[batch] == nil { reasons[batch] = wait.obstacle.detail }
        }
        return reasons
    }

    /// Whether the output of a batch cannot be written now.
    func isBarred(_ id: BatchID) -> Bool { outputWaits.contains { $0.batches.contains(id) } }

    /// What is known of the batches of which operations are held.
    var contexts: [BatchContext] {
        batches.values.compactMap { $0.operations.first.flatMap { operations[$0]?.context } }
    }

    /// An obstacle was met: nothing more of `batch` and `others` begins until it is gone.
    /// - Parameters:
    ///   - device: the file system, when all that is written to it meets the obstacle.
    ///   - left: a temporary file to be removed then.
    /// - Returns: what follows; `isNews` false when it was known.
    mutating func bar(
        _ batch: BatchID, and others: Set<BatchID>, by obstacle: OutputObstacle, device: UInt?, left: String?
    ) -> (orders: Orders, isNews: Bool) {
        let ids = others.union([batch])
        let known = outputWaits.firstIndex { device != nil ? $0.device == device : $0.batches.contains(batch) }
        if known == nil {
            lastOutputWait += 1
            outputWaits.append(
                OutputWait(number: lastOutputWait, batch: batch, obstacle: obstacle, device: device, batches: []))
        }
        let place = known ?? outputWaits.count - 1
        let news = ids.subtracting(outputWaits[place].batches)
        outputWaits[place].batches.formUnion(ids)
        outputWaits[place].obstacle.bytes = max(outputWaits[place].obstacle.bytes, obstacle.bytes)
        if let left, outputWaits[place].left.count < Self.maxLeft { outputWaits[place].left.append(left) }
        return (resettle(news), known == nil)
    }

    /// A batch that was claimed writes to a file system that cannot be written now: it waits, too.
    /// - Returns: why; nil when it can be written as far as is known.
    mutating func bar(_ id: BatchID, onDevice device: UInt) -> String? {
        guard let place = outputWaits.firstIndex(where: { $0.device == device }) else { return nil }
        outputWaits[place].batches.insert(id)
        return outputWaits[place].obstacle.detail
    }

    /// The obstacles that are waited for; those of which nothing has been held for long are forgotten.
    mutating func outputsToLook(now: ContinuousClock.Instant) -> [OutputWait] {
        for place in outputWaits.indices {
            let isHeld = outputWaits[place].batches.contains { batches[$0] != nil }
            outputWaits[place].unheldSince = isHeld ? nil : outputWaits[place].unheldSince ?? now
        }
        outputWaits.removeAll { $0.unheldSince.map { now - $0 >= Self.remembersUnheld } ?? false }
        return outputWaits
    }

    /// Something else hinders now; who does not meet that one goes on.
    mutating func changed(_ number: Int, to obstacle: OutputObstacle) -> Orders {
        guard let place = outputWaits.firstIndex(where: { $0.number == number }) else { return Orders() }
        outputWaits[place].obstacle = obstacle
        guard outputWaits[place].device != nil, !obstacle.isOfDevice else { return Orders() }
        let others = outputWaits[place].batches.subtracting([outputWaits[place].batch])
        outputWaits[place].device = nil
        outputWaits[place].batches.subtract(others)
        return resettle(others)
    }

    /// An obstacle is gone.
    mutating func freed(_ number: Int) -> Orders {
        guard let place = outputWaits.firstIndex(where: { $0.number == number }) else { return Orders() }
        return resettle(outputWaits.remove(at: place).batches)
    }

    private mutating func resettle(_ ids: Set<BatchID>) -> Orders {
        var orders = Orders()
        for id in ids where batches[id] != nil {
            settle(id, &orders)
            orders.isNews = true
        }
        return orders
    }

    /// The operations that are held of what is written to a file system.
    func operations(onDevice device: UInt) -> [HeldOperation] {
        order.filter { operations[$0]?.folder.map { UInt($0.device) } == device }
    }

    /// The operations that were claimed while a folder was open.
    func operations(in folder: OpenFolder) -> [HeldOperation] { order.filter { operations[$0]?.folder === folder } }
}
