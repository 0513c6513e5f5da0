import DarkroomConcurrency
import DarkroomLogging
import DarkroomModel
import DarkroomStorage
import DarkroomStore
import DarkroomWorkerState
import Foundation

/// Prepares claimed operations, and refuses batches that this worker cannot run.
extension WorkerCore {
    private var refusals: Locked<Refusals> { coordination.refusals }

    /// The batches that this worker cannot run now, with the reasons.
    var refused: [BatchID: Refusal] {
        let blocked = read { $0.blockedBatches }
        return refusals.withLock { $0.kept }.merging(blocked) { _, blocked in blocked }
    }

    /// Prepares claimed operations, batch by batch. If the file system of a batch does not answer, the batch is
    /// refused. When the file system answers again, the thread that waited for it continues the preparation.
    func prepare(_ operations: [ClaimedOperation]) {
        let ids = Set(operations.map(\.held.batch))
        contexts.withLock { contexts in
            if contexts.count > 64 { contexts = contexts.filter { ids.contains($0.key) } }
        }
        var parts: [(batch: BatchID, operations: [(ClaimedOperation, call: Int)])] = []
        for operation in operations {
            let call = fileCalls.begin(.claim, of: operation.held)
            if parts.last?.batch != operation.held.batch { parts.append((operation.held.batch, [])) }
            parts[parts.count - 1].operations.append((operation, call))
        }
        for (batch, part) in parts {
            perform(onHang: { [self] in refuse(batch, Self.noAnswer($0), until: .answer($0)) }) { [self] call in
                for (operation, number) in part {
                    accept(operation, call)
                    fileCalls.end(number)
                }
            }
        }
    }

    func refuse(_ batch: BatchID, _ reason: String) { refuse(batch, Refusal(.other, reason), until: .time) }

    private func decline(_ operation: ClaimedOperation) { handle(.declined(operation.held)) }

    /// Runs `body`, which may access storage that does not answer, see ``StorageCalls/perform(onHang:onAnswer:_:)``.
    @discardableResult
    func perform(
        onHang: (String) -> Void = { _ in }, _ body: @escaping @Sendable (StorageCalls.Call) -> Void
    ) -> String? {
        let onAnswer = { @Sendable [self] (domain: String) in
            refusals.withLock { $0.recovered(domain) }
            coordination.expectWork(.veryHigh)
        }
        return storageCalls.perform(onHang: onHang, onAnswer: onAnswer, body)
    }

    private static func noAnswer(_ domain: String) -> Refusal {
        Refusal(.folderMissing, "\(domain) does not answer")
    }

    private func accept(_ operation: ClaimedOperation, _ call: StorageCalls.Call) {
        let batch = operation.held.batch
        call.accesses("")
        // The batch may have been refused while another operation of this claim was prepared.
        if refusals.withLock({ $0.contains(batch) }) { return decline(operation) }
        var end = Refusals.End.time
        let cached = contexts.withLock { $0[batch] }
        do {
            var known = cached.map { (options: $0.options, taken: $0.taken) }
            if known == nil, let facts = try coordination.store.facts(of: batch) {
                guard facts.damage.isEmpty else {
                    throw Refusal(.other, "it is damaged in Redis: \(facts.damage.joined(separator: ", "))")
                }
                known = (facts.options, facts.outputTaken)
            }
            guard let (options, taken) = known else { return decline(operation) }  // the batch is gone
            let locations = options.locations
            if let domain = storageCalls.hungDomain(of: locations) {
                refuse(batch, Self.noAnswer(domain), until: .answer(domain))
                // The storage may have answered between the check and the refusal.
                if storageCalls.hungDomain(of: locations) != domain { refusals.withLock { $0.recovered(domain) } }
                return decline(operation)
            }
            end = .check(options, taken: taken)
            let context =
                try cached
                ?? BatchContext(
                    batch, options, configuration, hooks: hooks, taken: taken, willAccess: call.accesses(_:))
            contexts.withLock { $0[batch] = context }
            call.accesses(options.output.isEmpty ? options.originals : options.output)
            let storage = try openStorage(of: context)
            try accept(operation, context, storage, willAccess: call.accesses(_:))
        } catch {
            contexts.withLock { $0[batch] = nil }  // the cause may be temporary
            switch error {
            // The batch may have taken its folder back since `cached` was created, so its facts are read again.
            case let refusal as Refusal where refusal.code == .folderTaken && cached != nil:
                return accept(operation, call)
            case let refusal as Refusal: refuse(batch, refusal, until: end)
            // The lines of earlier claims cannot be read now. They are not replaced, and the operation is released.
            case let fault as StorageFault: refuse(batch, fault.refusal, until: end)
            case let error as StoreError where error.isPassing: break
            default: refuse(batch, "operation \(operation.held.number): \(error)")
            }
            decline(operation)
        }
    }

    /// Opens the storage of a batch, and takes this storage for the batch.
    /// - Throws: ``Refusal`` if no file can be written to the storage.
    private func openStorage(of context: BatchContext) throws(Refusal) -> any HeldStorage {
        let storage = try context.storage.take()
        for case .outputBlocked(let refusal) in effects(of: .outputOpened(context.id, storage.domains)) {
            throw refusal
        }
        return storage
    }

    // MARK: Refusals

    /// Refuses a batch until the cause is gone, and logs the first refusal.
    func refuse(_ batch: BatchID, _ refusal: Refusal, until end: Refusals.End) {
        guard refusals.withLock({ $0.refuse(batch, refusal, until: end, .now) }) else { return }
        outputSignal.raise()
        coordination.logger.notice(
            "batch is left to other workers", key: batch.description,
            [.batch: .text(batch), "detail": .text(refusal.reason)])
    }

    /// The time after which ``checkRefusals()`` starts no further check. The next call checks the other batches.
    private static let maxCheckTime = Duration.seconds(10)

    /// Checks, without a claim, whether the causes of refusals are gone. Blocks while a folder does not answer.
    func checkRefusals() {
        var isAnyWithdrawn = false
        var taken: [BatchID: Int] = [:]  // refused because another batch took the folder
        let due = refusals.withLock { $0.due(.now) }
        guard let over = batchesThatAreOver(due) else { return }  // the next check tries again
        let deadline = ContinuousClock.now + Self.maxCheckTime
        for (batch, end) in due where .now < deadline {
            guard !over.contains(batch) else {
                refusals.withLock { $0.withdraw(batch) }
                continue
            }
            do throws(Refusal) {
                if case .check(let options, let taken) = end { try check(batch, options, taken: taken) }
                refusals.withLock { $0.withdraw(batch) }
                isAnyWithdrawn = true
            } catch {
                refusals.withLock { $0.keep(batch, error, .now) }
                if case .check(_, let number) = end, error.code == .folderTaken { taken[batch] = number }
            }
        }
        for batch in batchesThatTookTheirFolderBack(since: taken) {
            refusals.withLock { $0.withdraw(batch) }
            isAnyWithdrawn = true
        }
        if isAnyWithdrawn { coordination.expectWork(.veryHigh) }
    }

    /// - Throws: ``Refusal`` if a refused batch cannot be run now.
    private func check(_ batch: BatchID, _ options: BatchOptions, taken: Int) throws(Refusal) {
        if let hung = storageCalls.hungDomain(of: options.locations) { throw Self.noAnswer(hung) }
        let found = Locked<Refusal?>(nil)
        let hung = perform { [self] call in
            do throws(Refusal) {
                let context = try BatchContext(
                    batch, options, configuration, hooks: hooks, taken: taken, willAccess: call.accesses(_:))
                call.accesses(options.output)
                _ = try openStorage(of: context)
            } catch {
                found.withLock { $0 = error }
            }
        }
        if let hung { throw Self.noAnswer(hung) }
        if let refusal = found.withLock({ $0 }) { throw refusal }
    }

    /// The batches in `due` that are finished, cancelled or forgotten and whose check would create folders.
    /// - Returns: nil if Redis is unreachable.
    private func batchesThatAreOver(_ due: [(batch: BatchID, end: Refusals.End)]) -> Set<BatchID>? {
        let making = due.filter { if case .check(let options, _) = $0.end { options.remoteOutput } else { false } }
        guard !making.isEmpty else { return [] }
        let batches = making.map(\.batch)
        return (try? coordination.store.unfinished(batches)).map { Set(batches).subtracting($0) }
    }

    /// The batches that have taken their output folder again: their number in Redis is higher than in `taken`. Checks
    /// at most 100.
    private func batchesThatTookTheirFolderBack(since taken: [BatchID: Int]) -> [BatchID] {
        let batches = taken.keys.shuffled().prefix(100)
        // If Redis is unreachable, the batches stay refused until the next check.
        guard !batches.isEmpty, let now = try? coordination.store.outputsTaken(by: Array(batches)) else { return [] }
        return batches.filter { batch in (now[batch] ?? 0) > (taken[batch] ?? 0) }
    }

    /// Withdraws the refusals of batches that are finished, cancelled or forgotten.
    func pruneRefusals() {
        let refused = refusals.withLock { $0.batches }
        for start in stride(from: 0, to: refused.count, by: 1000) {
            let part = Array(refused[start..<min(start + 1000, refused.count)])
            guard let unfinished = try? coordination.store.unfinished(part) else { return }  // tried again later
            for batch in part where !unfinished.contains(batch) {
                refusals.withLock { $0.withdraw(batch) }
            }
        }
    }
}

extension BatchOptions {
    /// The locations that a worker accesses for the batch; "" stands for a location that the batch does not have.
    fileprivate var locations: [String] { [output, originals, photosFolder] }
}
