/// A message from another thread to the thread of a ``TransferEngine``.
enum EngineMessage {
    case start(Transfer)
    case cancel(Transfer)
    case withdraw(Transfer)
    case reorder(Transfer, TransferOrder)
    case limit(Int)
    case fileRead(Transfer, attempt: Int, Result<[UInt8], TransferError>)
    case shutdown
}
