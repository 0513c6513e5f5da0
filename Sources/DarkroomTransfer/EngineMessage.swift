import DarkroomFiles

/// A message from another thread to the thread of a ``TransferEngine``.
enum EngineMessage {
    case start(Transfer)
    case cancel(Transfer)
    case withdraw(Transfer)
    case reorder(Transfer, TransferOrder)
    case limit(Int)
    case fileRead(Transfer, attempt: Int, Result<(bytes: [UInt8], time: FileTime?), TransferError>)
    case shutdown
}
