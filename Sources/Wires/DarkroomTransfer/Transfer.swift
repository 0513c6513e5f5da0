import DarkroomConcurrency
import DarkroomHosts

/// A started transfer. The transfer continues even if no reference to it is kept. Any thread may call its package
/// functions, which never block.
package final class Transfer: @unchecked Sendable {  // only the engine's thread uses mutable state
    enum Phase {
        case naming  // the addresses of its host are asked for
        case waiting  // for its turn, in the host book
        case running(Attempt, since: ContinuousClock.Instant)
        case aborting(since: ContinuousClock.Instant)  // an attempt, which ends soon
        case held(Attempt, bytes: Int, since: ContinuousClock.Instant)  // until `bytes` of the body may be kept
        /// Like `held`, but the attempt has ended. `sign` is what it told about its host.
        case cutOff(bytes: Int, sign: HostSign, since: ContinuousClock.Instant)
        case reading(since: ContinuousClock.Instant)  // a file
        case pausing(until: ContinuousClock.Instant)  // before the next attempt
        case finished
    }

    let url: String
    let onChunk: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    let steps: TransferSteps
    let makeHeaders: HeaderMaker?
    /// Set by `cancel()` before the engine's thread handles the message, so that the reading of a file stops early.
    let unwanted = Latch()
    private let mailbox: Mailbox<EngineMessage>
    private var completion: ((Result<Download, TransferError>) -> Void)?

    var phase = Phase.naming
    var target: TransferURL?
    /// The next request; nil for files, and before the first attempt.
    var request: Request?
    /// The addresses of the request's name.
    var addresses: [IPAddress] = []
    var order: TransferOrder
    /// The earlier attempts, perhaps of another process.
    var history: RetryHistory
    /// Whether the host did not answer the last attempt. If another process made the last attempt: whether the host refused
    /// the attempt or did not answer it, because the history does not distinguish the two.
    var wasSilent: Bool
    /// Whether the held or ended attempt has received a part of its body.
    var hasBody = false
    /// How much room the next request needs, because the last one was ended for lack of room; otherwise 0.
    var allowance = 0

    init(
        url: String, mailbox: Mailbox<EngineMessage>, order: TransferOrder = TransferOrder(),
        steps: TransferSteps = TransferSteps(), history: RetryHistory = RetryHistory(),
        makeHeaders: HeaderMaker? = nil, onChunk: (@Sendable (UnsafeRawBufferPointer) -> Void)?,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) {
        self.url = url
        self.mailbox = mailbox
        self.order = order
        self.steps = steps
        self.history = history
        wasSilent = history.troubles != nil
        self.makeHeaders = makeHeaders
        self.onChunk = onChunk
        self.completion = completion
    }

    /// Aborts the transfer in any phase. Its completion receives `.cancelled`, unless it has already received another
    /// result. If an attempt is running, this happens when its network thread has closed the connection, or has ended its
    /// stream of HTTP/2. The completion
    /// itself may call this method.
    package func cancel() {
        unwanted.set()
        mailbox.post(.cancel(self))
    }

    /// Cancels the transfer if it is waiting for its turn or for its next attempt. A running attempt continues, and is
    /// tried again if it fails.
    package func withdraw() { mailbox.post(.withdraw(self)) }

    /// Changes the position of the transfer among the waiting transfers.
    package func reorder(_ order: TransferOrder) { mailbox.post(.reorder(self, order)) }

    /// The host whose connections the transfer uses next; "" for files.
    var host: String { request?.hop.host ?? "" }

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
        finish(.failure(TransferError(code: code, detail: detail, attempts: history.attempts)))
    }
}
