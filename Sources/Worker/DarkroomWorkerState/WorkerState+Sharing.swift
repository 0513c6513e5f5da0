import DarkroomModel

/// Shares operations with idle workers.
///
/// DESIGN. A worker takes as many operations as it can use, because Redis cannot know which workers will join later. A
/// worker without operations that finds none to claim asks the others (``ChangeNotice/idle(_:)``), and each of them
/// releases up to half of its operations. For a short time, a worker that has released operations claims no operations
/// of the same or a lower priority, so that the idle worker can take the released operations
/// (`ClaimPlan.hold(back:until:)`). The idle worker asks again while it is idle.
extension WorkerState {
    /// Marks for release the operations that an idle worker can take: the lowest priority first, and within a priority
    /// the latest claim first. Operations stay if one of their photos has sent a request, is being filtered, or is not
    /// reported yet.
    mutating func shareOperations() -> [HeldOperation] {
        let wanted = operationsWanted
        operationsWanted = 0
        guard wanted > 0, !isStopping else { return [] }
        let useful = leases.local.filter(canProgress)
        let busy = Set(
            photos.all.lazy.filter { $0.stage != .queued && $0.stage != .waiting }.map(\.task.operation))
        let shared = useful.filter { !busy.contains($0) && mayBeShared($0) }
            .map { (held: $0, priority: controls.controls(of: $0.batch).priority) }
            .reversed().sorted { $0.priority < $1.priority }  // keeps the order within a priority
            .prefix(min(wanted, useful.count / 2)).map(\.held)
        for held in shared { beginRelease(held, until: nil) }
        return shared
    }

    private func mayBeShared(_ held: HeldOperation) -> Bool {
        guard let operation = operations[held] else { return false }
        return !operation.isQuarantined && !operation.hasNews && operation.focus == nil
    }

    /// Whether this worker or another worker could process photos of an operation now. False if all its photos wait for
    /// servers, or if all wait for filtrations that a user has suspended.
    private func canProgress(_ held: HeldOperation) -> Bool {
        guard let operation = operations[held] else { return false }
        return !operation.isDone && !operation.isIdling && (operation.photosToBegin > 0 || !operation.isIdle)
            && hold(of: held)?.allowsDownloads == true
    }
}
