import DarkroomModel
import DarkroomStore

/// Shares operations with idle workers.
///
/// DESIGN. A worker takes as many operations as it can use, because Redis cannot know which workers will join later. If a
/// worker finds no operation to claim, it asks the others (``ChangeNotice/idle(share:)``), and each of them releases
/// operations that exceed its share. A worker that has released operations claims no others until one of those that it
/// kept has left it. So it does not take back what the idle worker is about to claim. The idle worker asks again while it
/// is idle.
extension WorkerState {
    /// The latest claimed operations that exceed this worker's share. Operations stay if one of their photos is being
    /// downloaded or filtered, or is not reported yet. Operations that wait only for servers also stay: another worker
    /// could do no more for them.
    var surplus: [HeldOperation] {
        guard let share, !isStopping else { return [] }
        let surplus = contending(from: .veryLow) - share
        guard surplus > 0 else { return [] }
        let busy = Set(
            photos.all.lazy.filter { $0.stage != .queued && $0.stage != .waiting }.map(\.task.operation))
        let latestFirst = leases.local.reversed()
        return Array(latestFirst.lazy.filter { !busy.contains($0) && mayBeShared($0) }.prefix(surplus))
    }

    private func mayBeShared(_ held: HeldOperation) -> Bool {
        guard contends(held), let operation = operations[held] else { return false }
        return !operation.isQuarantined && !operation.hasNews && operation.focus == nil
    }

    /// Whether another worker is idle, and this worker holds its share of operations of a priority and all higher
    /// priorities.
    func hasItsShare(of priority: BatchPriority) -> Bool {
        share.map { contending(from: priority) >= $0 } ?? false
    }

    /// The number of operations of a priority and all higher priorities that compete for the worker's downloads and
    /// filtrations.
    func contending(from priority: BatchPriority) -> Int {
        leases.all.count { held in
            (contends(held) || leases.isPreparing(held)) && controls.controls(of: held.batch).priority >= priority
        }
    }

    private func contends(_ held: HeldOperation) -> Bool {
        guard let operation = operations[held] else { return false }
        return !operation.isDone && !operation.isIdling && hold(of: held)?.allowsDownloads == true
    }
}
