import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// Dependencies of batches.
extension StoreModel {
    /// Adds a dependency to a batch that has not started, if the other batch is unfinished.
    mutating func wait(_ id: BatchID, for other: BatchID) {
        guard state.batches[id]!.dependencies.insert(other).inserted else { return }
        state.batches[other]!.dependents.order.append(id)
        state.batches[id]!.state = .waiting
        syncReadyQueue(id)
    }

    mutating func addDependency(_ id: BatchID, _ other: BatchID, _ version: Int) -> AddDependencyReply {
        if id == other { return .itself }
        guard let batch = state.batches[id], let state = batch.state else { return .gone(id) }
        guard let awaited = self.state.batches[other], awaited.state != nil else { return .gone(other) }
        if batch.isCancelled { return .cancelled }
        if state == .executing || state == .finished || batch.round > 1 { return .started }
        if batch.dependencies.contains(other) { return .added(isNew: false) }
        if awaited.state == .finished {
            guard batch.afterSuccess, !awaited.succeeded else { return .finishedBefore }
            cancelNow(id, "\(other) did not succeed")
            return .failedBefore
        }
        if self.state.dependencies != version { return .moved }
        wait(id, for: other)
        self.state.dependencies += 1
        return .added(isNew: true)
    }

    mutating func removeDependency(_ id: BatchID, _ other: BatchID) -> RemoveDependencyReply {
        guard let batch = state.batches[id], batch.state != nil else { return .gone(id) }
        guard batch.dependencies.contains(other) else { return .removed(isNew: false) }
        part(id, other)
        state.dependencies += 1
        if state.batches[id]!.state == .waiting, state.batches[id]!.dependencies.isEmpty { makeReady(id) }
        return .removed(isNew: true)
    }

    /// One step of `releases`: takes the batch that finished earliest, and releases its dependents.
    mutating func releaseStep() {
        guard let id = state.releases.min(by: { ($0.value, $0.key) < ($1.value, $1.key) })?.key else { return }
        state.releases[id] = nil
        release(id)
    }

    /// Releases all dependents of a batch that has finished or is being forgotten.
    mutating func release(_ id: BatchID) {
        let succeeded = state.batches[id]!.succeeded
        for dependent in state.batches[id]!.dependents.order {
            part(dependent, id)
            guard state.batches[dependent]?.state == .waiting else { continue }
            if state.batches[dependent]!.afterSuccess, !succeeded {
                cancelNow(dependent, "\(id) did not succeed")
            } else if state.batches[dependent]!.dependencies.isEmpty {
                makeReady(dependent)
            }
        }
    }

    private mutating func part(_ id: BatchID, _ other: BatchID) {
        state.batches[id]?.dependencies.remove(other)
        state.batches[other]?.dependents.order.removeAll { $0 == id }
    }

    private mutating func makeReady(_ id: BatchID) {
        state.batches[id]!.state = .ready
        finishIfOver(id)
        syncReadyQueue(id)
    }
}

extension BatchContent {
    /// Whether all photos were filtered, so that dependents that need success may start.
    var succeeded: Bool { state == .finished && !isCancelled && reasonsOfStateCodes.isEmpty }
}
