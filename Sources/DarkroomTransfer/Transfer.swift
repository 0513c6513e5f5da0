/// A transfer that was started; it goes on whether or not somebody keeps this.
public final class Transfer: @unchecked Sendable {  // all that changes is touched by the engine's thread alone
    enum Phase {
        case waiting  // for a place at its host
        case running(EasyHandle)
        case reading(since: ContinuousClock.Instant)  // a file
        case pausing(until: ContinuousClock.Instant)  // before the next attempt
        case finished
    }

    let url: String
    let onChunk: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    private let mailbox: Mailbox
    private var completion: ((Result<Download, TransferError>) -> Void)?

    var phase = Phase.waiting
    var target: TransferURL?
    var attempts = 0
    /// Whether bytes went to `onChunk`, after which nothing can be tried again.
    var hasStreamed = false

    init(
        url: String, mailbox: Mailbox, onChunk: (@Sendable (UnsafeRawBufferPointer) -> Void)?,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) {
        self.url = url
        self.mailbox = mailbox
        self.onChunk = onChunk
        self.completion = completion
    }

    /// Aborts the transfer, wherever it is; its completion gets `.cancelled`, unless it already got another result.
    ///
    /// May be called from any thread, the completion included, and never blocks.
    public func cancel() { mailbox.post(.cancel(self)) }

    var isFinished: Bool {
        if case .finished = phase { true } else { false }
    }

    /// Calls the completion, the first time; what it captured is let go.
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
