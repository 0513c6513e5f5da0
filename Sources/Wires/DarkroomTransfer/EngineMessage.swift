import DarkroomFiles
import DarkroomHosts

/// A message from another thread to the thread of a ``TransferEngine``.
enum EngineMessage {
    case start(Transfer)
    case cancel(Transfer)
    case withdraw(Transfer)
    case reorder(Transfer, TransferOrder)
    /// The lowest priority of which transfers may begin.
    case open(lowestPriority: Int)
    /// Ask again for the transfers that are held.
    case resume
    /// An attempt needs memory for a number of bytes of its body, of which it may already have received some.
    case held(Attempt, bytes: Int, hasBody: Bool)
    /// An attempt of a transfer has ended.
    case ended(Attempt, Attempt.Outcome)
    case fileRead(Transfer, attempt: Int, Result<(bytes: [UInt8], time: FileTime?), TransferError>)
    /// The exchange of these hosts with other workers has ended. The shares are nil if the other workers could not be
    /// reached.
    case shared([String], [HostShare]?)
    /// Transfers of a group that other engines may continue later wait for these hosts.
    case deferred([String: Int], group: String, until: ContinuousClock.Instant)
    /// Publish an overview of the hosts.
    case reportHosts
    case shutdown
}
