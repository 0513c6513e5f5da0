import DarkroomModel

/// A step of a photo in a worker, for measurements and tests.
package struct TraceEvent: Sendable {
    package enum Kind: Sendable {
        /// A transfer began, after it had waited for a slot of its host.
        case downloadBegan
        /// A transfer ended, with any result.
        case downloadEnded
        case filtrationBegan
        /// A filtration ended, with any result. If the photo was filtered, its file has its final name.
        case filtrationEnded
    }

    package let kind: Kind
    package let batch: BatchID
    /// The index of the photo in its list.
    package let index: Int
    package let instant: ContinuousClock.Instant

    /// Creates the trace event for an event of the worker state. Returns nil if the event is not a step of a photo.
    package init?(_ event: WorkerState.Event, _ effects: [WorkerState.Effect]) {
        let task: PhotoTask
        switch event {
        case .downloadBegins(let photo):
            let isFirst = effects.contains { if case .proceed(let isFirst) = $0 { isFirst } else { false } }
            guard isFirst else { return nil }
            (kind, task) = (.downloadBegan, photo)
        case .downloaded(let photo, _), .downloadEnded(let photo, _): (kind, task) = (.downloadEnded, photo)
        case .filterBegins(let job):
            guard effects.contains(where: { if case .proceed = $0 { true } else { false } }) else { return nil }
            (kind, task) = (.filtrationBegan, job.task)
        case .filterEnded(let job, _): (kind, task) = (.filtrationEnded, job.task)
        default: return nil
        }
        batch = task.operation.batch
        index = task.record.index
        instant = .now
    }
}
