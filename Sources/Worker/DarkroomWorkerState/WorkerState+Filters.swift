import DarkroomModel

/// Handles photos from their entry into the image filtration queue to their outcome.
extension WorkerState {
    /// Fills the image filtration queue up to twice the number of concurrent filtrations, so that no thread waits.
    mutating func queueFilters() -> [FilterJob] {
        var queued: [FilterJob] = []
        for rank in BatchPriority.allCases.indices.reversed() {
            while queues.total(\.filters, from: rank) + photos.abandonedCount < 2 * limits.filtrations,
                let id = queues.nextToFilter(rank)
            {
                var next: PhotoTask?
                change(id) { batch in
                    next = batch.popReady()
                    if next != nil { batch.filters += 1 }
                }
                guard let task = next else { break }
                countService(id, 1)
                let attempt = photos.beginAttempt(task)
                update(task.operation) { $0.waiting -= 1 }
                queued.append(FilterJob(task: task, attempt: attempt, priority: BatchPriority.allCases[rank]))
            }
        }
        return queued
    }

    mutating func filterBegins(_ job: FilterJob, _ effects: inout [Effect]) {
        guard let entry = photos.entry(of: job), entry.stage == .filterQueued else {
            photos.endAbandoned(job.attempt)
            effects.append(.schedule(urgently: false))
            return
        }
        photos.update(job.task) { entry in
            entry.stage = .filtering
            entry.times.filterBegan = .now
        }
        effects.append(.proceed(isFirst: true))
    }

    mutating func placing(_ job: FilterJob, _ effects: inout [Effect]) {
        guard let entry = photos.entry(of: job), entry.stage == .filtering else { return }
        photos.update(job.task) { $0.stage = .placing }
        effects.append(.proceed(isFirst: true))
    }

    mutating func filterEnded(_ job: FilterJob, _ outcome: PhotoOutcome?, _ effects: inout [Effect]) {
        if let entry = photos.entry(of: job) {
            photos.drop(entry.bytes)
            remove(entry)
            recordOutcome(entry, outcome, &effects)
        } else {
            photos.endAbandoned(job.attempt)
        }
        effects.append(.schedule(urgently: false))
    }

    mutating func withdrawFilter(_ entry: PhotoEntry) {
        photos.abandon(entry)
        change(entry.task.operation.batch) { $0.filters -= 1 }
        countService(entry.task.operation.batch, -1)
        photos.update(entry.task) { $0.attempt = 0 }
        makeReady(entry.task)
    }
}
