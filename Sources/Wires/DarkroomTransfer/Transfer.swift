import DarkroomConcurrency
import DarkroomHosts

/// A started transfer. The transfer continues even if no reference to it is kept. Any thread may call its package
/// functions, which never block.
package final class Transfer: @unchecked Sendable {  // only the engine's thread uses mutable state
    enum Phase {
        case naming  // waits for the addresses of its host
        case waiting  // for its turn, in the host book
        case running(Attempt, since: ContinuousClock.Instant)
        case aborting(since: ContinuousClock.Instant)  // ends an attempt
        case held(Attempt, bytes: Int, since: ContinuousClock.Instant)  // waits until it may keep `bytes`
        /// Like `held`, but the attempt has ended. `sign` is the information that the attempt gave about its host.
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
    /// The addresses of the request's host name.
    var addresses: [IPAddress] = []
    var order: TransferOrder
    /// The results of the earlier attempts, which another process may have made.
    var history: RetryHistory
    /// Whether the host did not answer the last attempt. If another process made the last attempt, this is also true if
    /// the host refused the attempt, because the history does not distinguish refusals and silences.
    var wasSilent: Bool
    /// Whether the held or ended attempt may keep a part of its body in memory.
    var hasBody = false
    /// The number of bytes that the next request needs, if the last request was ended for lack of memory; otherwise 0.
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
    /// result. If an attempt is running, the completion is called after the network thread has closed the connection
    /// or, with HTTP/2, reset the stream. The completion itself may call this method.
    package func cancel() {
        unwanted.set()
        mailbox.post(.cancel(self))
    }

    /// Cancels the transfer if it is waiting for its turn or for its next attempt. A running attempt continues, and is
    /// tried again if it fails.
    package func withdraw() { mailbox.post(.withdraw(self)) }

    /// Changes the position of the transfer among the waiting transfers.
    package func reorder(_ order: TransferOrder) { mailbox.post(.reorder(self, order)) }

    /// The host of the next request; "" for files.
    var host: String { request?.hop.host ?? "" }

    var isFinished: Bool {
        if case .finished = phase { true } else { false }
    }

    /// Calls the completion unless it was already called, and releases the completion.
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
