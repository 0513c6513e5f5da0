import DarkroomModel

extension BatchStore {
    /// Suspends or resumes a batch or the cluster. Repeating the call does no harm.
    /// - Parameters:
    ///   - id: the batch; nil for the cluster.
    ///   - part: the queue to suspend or resume; each queue has its own flag.
    ///   - isSuspended: true suspends, false resumes.
    package func suspend(_ id: BatchID?, _ part: QueuePart, _ isSuspended: Bool) -> ScriptCall<ControlReply> {
        let flag = part == .everything ? "suspended" : "\(part.rawValue).suspended"
        return call(\.suspend, [id?.description ?? "", flag, isSuspended])
    }
}
