import DarkroomModel

/// Adds and removes local operations.
extension WorkerState {
    /// Adds a prepared operation, or drops it if it was lost during its preparation. Removes an older copy of the
    /// operation.
    mutating func accept(_ operation: LocalOperation, _ effects: inout [Effect]) {
        let held = operation.held
        guard let claimed = leases.begin(held) else {
            if operations[held] == nil { effects.append(.dropped(held)) }
            return
        }
        if let older = batches[held.batch]?.operations.first(where: { $0.number == held.number }) {
            drop(older, isReplaced: older == held, &effects)
        }
        operations[held] = operation
        operations[held]?.claimed = claimed
        photosDone += operation.skipped
        if operation.isDone { doneOperations += 1 }
        if batches[held.batch] == nil {
            let controls = controls.controls(of: held.batch)
            batches[held.batch] = LocalBatch(
                operationSize: operation.operationSize, controls: controls, hold: hold(of: held.batch))
            self.controls.keep(held.batch)
        }
        batches[held.batch]?.operations.append(held)
        drained.remove(held.batch)
        rebuild(held.batch)
        effects += [.schedule(urgently: false), .wakeReports]
    }

    /// Removes operations that this worker no longer holds.
    mutating func lose(_ lost: [HeldOperation], _ effects: inout [Effect]) {
        guard !lost.isEmpty else { return }
        for held in lost {
            if let operation = operations[held] {
                let isExpected = operation.isDone || operation.hold == .releasing
                effects.append(.leaseLost(held, expected: isExpected))
            } else if leases.isPreparing(held) {
                effects.append(.leaseLost(held, expected: true))
            }
            drop(held, &effects)
        }
        effects += [.schedule(urgently: false), .wakeClaims, .wakeReports]
    }

    /// Removes an operation after Redis has accepted its release.
    mutating func release(_ held: HeldOperation, _ effects: inout [Effect]) {
        drop(held, &effects)
        effects += [.schedule(urgently: false), .wakeClaims, .wakeReports]
    }

    /// Removes an operation that has ended. If photos of the operation became final elsewhere, this worker may still be
    /// running these photos.
    mutating func end(_ held: HeldOperation, _ effects: inout [Effect]) {
        if operations.keys.contains(held) { effects.append(.left(held)) }
        drop(held, &effects)
        effects += [.schedule(urgently: false), .wakeClaims]
    }

    /// Stops operations whose files may be lost. They are released without a report, and their photos run again.
    mutating func giveUp(_ lost: [HeldOperation], _ effects: inout [Effect]) {
        for held in lost {
            guard let operation = operations[held] else { continue }
            drop(held, &effects)
            leases.awaitRelease(held)
            if operation.isUnreported { effects.append(.removeManifest(held)) }
        }
        effects += [.schedule(urgently: false), .wakeClaims, .wakeReports]
    }

    /// Removes an operation and stops its photos.
    /// - Parameter isReplaced: whether the same operation is added again.
    private mutating func drop(_ held: HeldOperation, isReplaced: Bool = false, _ effects: inout [Effect]) {
        let isRunning = update(held) { $0.running > 0 } ?? false
        if isRunning {
            for entry in Array(photos.all) where entry.task.operation == held {
                stop(entry, alsoPlacing: true, &effects)
            }
        }
        leases.remove(held)
        guard let operation = operations.removeValue(forKey: held) else { return }
        if !isReplaced { effects.append(.dropped(held)) }
        if operation.isDone { doneOperations -= 1 }
        if let place = batches[held.batch]?.operations.firstIndex(of: held) {
            batches[held.batch]?.operations.remove(at: place)
        }
        // Without running photos and photos to start, the operation is in none of the batch's lists of photos.
        if isRunning || operation.photosToBegin > 0 { rebuild(held.batch) }
        forgetUnused(held.batch)
    }

    /// Removes a batch that has no local operations and no photos in progress.
    mutating func forgetUnused(_ id: BatchID) {
        guard let batch = batches[id], batch.operations.isEmpty, batch.begun == 0 else { return }
        batches[id] = nil
        drained.remove(id)
        controls.release(id)
    }
}
