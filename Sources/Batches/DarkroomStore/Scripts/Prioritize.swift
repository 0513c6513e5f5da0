import DarkroomModel

extension BatchStore {
    /// Changes the priority of a batch. Later claims use the new priority. Repeating the call does no harm.
    package func prioritize(_ id: BatchID, _ priority: BatchPriority) -> ScriptCall<ControlReply> {
        call(\.prioritize, [id, priority.rawValue])
    }
}
