import DarkroomModel

extension BatchStore {
    /// Suspends or resumes a batch or the cluster. Repeating the call does no harm.
    /// - Parameters:
    ///   - id: the batch; nil for the cluster.
    ///   - part: the part of the work; each part has its own flag.
    ///   - isSuspended: false resumes.
    package func suspend(_ id: BatchID?, _ part: QueuePart, _ isSuspended: Bool) -> ScriptCall<ControlReply> {
        let flag = part == .everything ? "suspended" : "\(part.rawValue).suspended"
        return call(StoreScripts.suspend, [id?.description ?? "", flag, isSuspended])
    }
}
