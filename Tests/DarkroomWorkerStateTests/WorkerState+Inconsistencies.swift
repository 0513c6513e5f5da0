import DarkroomModel

@testable import DarkroomWorkerState

extension WorkerState {
    /// The contradictions between the parts of the state; empty unless there is a bug. The tests check them after every
    /// event.
    func inconsistencies() -> [String] {
        var wrong = photos.inconsistencies() + queues.inconsistencies(batches)
        func expect(_ found: Int, _ counted: Int, _ what: @autoclosure () -> String) {
            if found != counted { wrong.append("\(what()): counted \(counted), found \(found)") }
        }
        expect(operations.values.count(where: \.isDone), doneOperations, "done operations")
        expect(leases.local.count, operations.count, "local operations")
        let entries = Array(photos.all)
        for (held, operation) in operations {
            let own = entries.filter { $0.task.operation == held }
            expect(own.count, operation.running, "running of \(held.number)")
            expect(own.count { $0.stage == .ready }, operation.waiting, "waiting of \(held.number)")
            expect(own.count(where: \.isIdle), operation.idle, "idle of \(held.number)")
            let free = operation.stateCodes.enumerated().count { position, code in
                PhotoState(stateCode: code)?.isFinal != true
                    && !own.contains { $0.task.record.index == operation.records[position].index }
            }
            expect(free, operation.unbegun, "left to begin of \(held.number)")
            if operation.isQuarantined, operation.running > 1 {
                wrong.append("a quarantined operation runs several photos")
            }
        }
        for (id, batch) in batches {
            if batch.hold != hold(of: id) { wrong.append("hold of \(id): \(batch.hold)") }
            let own = entries.filter { $0.task.operation.batch == id }
            expect(own.count, batch.begun, "begun of \(id)")
            expect(own.count { $0.stage == .queued || $0.stage == .downloading }, batch.downloads, "downloads of \(id)")
            expect(own.count { $0.stage.isWaiting }, batch.waiting, "waiting of \(id)")
            expect(own.count { $0.stage == .requested }, batch.requested, "requested of \(id)")
            expect(own.count { $0.stage == .arrived }, batch.arrived, "arrived of \(id)")
            expect(own.count { $0.stage == .queued }, batch.queued, "queued of \(id)")
            expect(own.count { $0.stage == .ready }, batch.ready.count + batch.aside.count, "ready of \(id)")
            let filters = own.count { !$0.stage.isDownload && $0.stage != .ready }
            expect(filters, batch.filters, "filters of \(id)")
            let unbegun = batch.toBegin.reduce(0) { $0 + (operations[$1]?.photosToBegin ?? -1) }
            expect(unbegun, batch.unbegun, "left to begin of \(id)")
            if batch.ready.contains(where: { operations[$0.operation]?.hold != Hold.none }) {
                wrong.append("a held photo of \(id) is ready")
            }
            if batch.aside.contains(where: { operations[$0.operation]?.hold == Hold.none }) {
                wrong.append("a photo of \(id) is aside without a hold")
            }
        }
        return wrong
    }
}

extension PhotoTable {
    /// The inconsistencies of the counts.
    func inconsistencies() -> [String] {
        let running = abandoned.values.compactMap { if case .running(let bytes) = $0 { bytes } else { nil } }
        let held = entries.values.filter { !$0.stage.isDownload }
        var wrong: [String] = []
        if held.count + running.count != photosHeld { wrong.append("photos held: \(photosHeld)") }
        if held.reduce(0, { $0 + $1.bytes }) + running.reduce(0, +) != bytesHeld {
            wrong.append("bytes held: \(bytesHeld)")
        }
        return wrong
    }
}

extension RunQueues {
    /// The inconsistencies of the queues and loads.
    func inconsistencies(_ batches: [BatchID: LocalBatch]) -> [String] {
        var wrong: [String] = []
        for (rank, queue) in queues.enumerated() {
            let own = batches.filter { $0.value.rank == rank }
            let expected = own.values.reduce(into: Load()) { $0 += $1.load }
            if expected != queue.load { wrong.append("load of rank \(rank): \(queue.load), expected \(expected)") }
            if queue.toBegin.batches.sorted() != own.filter(\.value.hasPhotosToBegin).keys.sorted() {
                wrong.append("batches to begin of rank \(rank)")
            }
            if queue.toFilter.batches.sorted() != own.filter(\.value.hasPhotosToFilter).keys.sorted() {
                wrong.append("batches to filter of rank \(rank)")
            }
        }
        return wrong
    }
}
