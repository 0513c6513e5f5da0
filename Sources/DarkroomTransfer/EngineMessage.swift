import DarkroomFiles

/// A message from another thread to the thread of a ``TransferEngine``.
enum EngineMessage {
    case start(Transfer)
    case cancel(Transfer)
    case withdraw(Transfer)
    case reorder(Transfer, TransferOrder)
    case limit(Int)
    /// An attempt of a transfer has ended.
    case ended(Attempt, Attempt.Outcome)
    case fileRead(Transfer, attempt: Int, Result<(bytes: [UInt8], time: FileTime?), TransferError>)
    case shutdown
}
