import DarkroomConcurrency

/// A started transfer. The transfer continues even if no reference to it is kept. Any thread may call its package
/// functions, which never block.
package final class Transfer: @unchecked Sendable {  // only the engine's thread uses mutable state
    enum Phase {
        case waiting  // for a slot
        case running(Attempt)
        case aborting  // an attempt, which ends soon
        case reading(since: ContinuousClock.Instant)  // a file
        case pausing(until: ContinuousClock.Instant)  // before the next attempt
        case finished
    }

    let url: String
    let onChunk: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    /// ``TransferEngine/start(_:order:mayBegin:waits:completion:)`` documents these two.
    let mayBegin: (@Sendable () -> Bool)?
    let waits: (@Sendable () -> Void)?
    /// Set by `cancel()` before the engine's thread handles the message, so that the reading of a file stops early.
    let unwanted = Latch()
    private let mailbox: Mailbox<EngineMessage>
    private var completion: ((Result<Download, TransferError>) -> Void)?

    var phase = Phase.waiting
    var target: TransferURL?
    var order: TransferOrder
    var attempts = 0

    init(
        url: String, mailbox: Mailbox<EngineMessage>, order: TransferOrder = TransferOrder(),
        mayBegin: (@Sendable () -> Bool)? = nil, waits: (@Sendable () -> Void)? = nil,
        onChunk: (@Sendable (UnsafeRawBufferPointer) -> Void)?,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) {
        self.url = url
        self.mailbox = mailbox
        self.order = order
        self.mayBegin = mayBegin
        self.waits = waits
        self.onChunk = onChunk
        self.completion = completion
    }

    /// Aborts the transfer in any phase. Its completion receives `.cancelled`, unless it has already received another
    /// result. If an attempt is running, this happens when its network thread has closed the connection. The completion
    /// itself may call this method.
    package func cancel() {
        unwanted.set()
        mailbox.post(.cancel(self))
    }

    /// Cancels the transfer if it is waiting for a slot or for its next attempt. A running attempt continues, and is
    /// tried again if it fails.
    package func withdraw() { mailbox.post(.withdraw(self)) }

    /// Changes the position of the transfer among the waiting transfers.
    package func reorder(_ order: TransferOrder) { mailbox.post(.reorder(self, order)) }

    /// The host whose slots the transfer uses; "" for files.
    var host: String {
        if case .web(_, let host) = target { host } else { "" }
    }

    var isFinished: Bool {
        if case .finished = phase { true } else { false }
    }

    /// Calls the completion unless it was already called, and releases it.
    func finish(_ result: Result<Download, TransferError>) {
        phase = .finished
        let completion = completion
        self.completion = nil
        completion?(result)
    }

    func fail(_ code: TransferError.Code, _ detail: String) {
        finish(.failure(TransferError(code: code, detail: detail, attempts: attempts)))
    }
}
