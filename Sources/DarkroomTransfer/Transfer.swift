import DarkroomConcurrency

/// A transfer that was started; it goes on whether or not somebody keeps this.
package final class Transfer: @unchecked Sendable {  // all that changes is touched by the engine's thread alone
    enum Phase {
        case waiting  // for a place
        case running(EasyHandle)
        case reading(since: ContinuousClock.Instant)  // a file
        case pausing(until: ContinuousClock.Instant)  // before the next attempt
        case finished
    }

    let url: String
    let onChunk: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    /// Asked on the engine's thread right before each attempt; false withdraws the transfer.
    let mayBegin: (@Sendable () -> Bool)?
    /// Told on the engine's thread when it begins to wait: for a place, or before another attempt.
    let waits: (@Sendable () -> Void)?
    /// Set when it was cancelled, before the engine's thread knows: what only that thread could tell would be told too late.
    let unwanted = Latch()
    private let mailbox: Mailbox<EngineMessage>
    private var completion: ((Result<Download, TransferError>) -> Void)?

    var phase = Phase.waiting
    var target: TransferURL?
    var order: TransferOrder
    var attempts = 0
    /// Whether bytes went to `onChunk`, after which nothing can be tried again.
    var hasStreamed = false

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

    /// Aborts the transfer, wherever it is; its completion gets `.cancelled`, unless it already got another result.
    ///
    /// May be called from any thread, the completion included, and never blocks.
    package func cancel() {
        unwanted.set()
        mailbox.post(.cancel(self))
    }

    /// Cancels the transfer unless an attempt of it runs: it waits for a place, or pauses before another attempt.
    /// One that runs goes on, to be tried again or not as ``TransferEngine/start(_:order:mayBegin:waits:completion:)`` was told.
    ///
    /// May be called from any thread and never blocks.
    package func withdraw() { mailbox.post(.withdraw(self)) }

    /// Gives the transfer another place among those that wait.
    ///
    /// May be called from any thread and never blocks.
    package func reorder(_ order: TransferOrder) { mailbox.post(.reorder(self, order)) }

    /// The host by which its places are counted; "" for files.
    var host: String {
        if case .web(_, let host) = target { host } else { "" }
    }

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
