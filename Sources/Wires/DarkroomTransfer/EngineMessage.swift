import DarkroomFiles
import DarkroomHosts

/// A message from another thread to the thread of a ``TransferEngine``.
enum EngineMessage {
    case start(Transfer)
    case cancel(Transfer)
    case withdraw(Transfer)
    case reorder(Transfer, TransferOrder)
    /// The lowest priority whose transfers may begin.
    case open(lowestPriority: Int)
    /// Ask again for memory for the held transfers.
    case resume
    /// An attempt needs memory for `bytes` of its body. If `hasBody`, it may already keep a part of the body.
    case held(Attempt, bytes: Int, hasBody: Bool)
    /// An attempt of a transfer has ended.
    case ended(Attempt, Attempt.Outcome)
    case fileRead(Transfer, attempt: Int, Result<(bytes: [UInt8], time: FileTime?), TransferError>)
    /// The exchange of these hosts with other workers has ended. The shares are nil if the other workers could not be
    /// reached.
    case shared([String], [HostShare]?)
    /// Count these numbers of deferred transfers of a group, by host. This or another engine continues the transfers at
    /// `until`.
    case deferred([String: Int], group: String, until: ContinuousClock.Instant)
    /// Publish an overview of the hosts.
    case reportHosts
    case shutdown
}
