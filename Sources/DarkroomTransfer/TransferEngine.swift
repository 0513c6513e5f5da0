internal import CCurl
import DarkroomConcurrency

/// Fetches many URLs at once, on one thread of its own.
///
/// That thread runs libcurl's multi interface and all completions: what they do must be short, or every transfer waits. An engine
/// that is let go ends its transfers like `shutdown()`, without waiting for it.
package final class TransferEngine: Sendable {
    private let mailbox: Mailbox<EngineMessage>
    private let thread: OwnedThread

    /// Starts an engine that keeps to `configuration`.
    package convenience init(_ configuration: TransferConfiguration) {
        let policy =
            configuration.allowPrivate ? .everything : AddressPolicy.publicInternet(and: configuration.allowedNetworks)
        self.init(configuration, allows: policy.allows)
    }

    /// Starts an engine that asks `allows`, on its thread, before each connection and each request.
    init(_ configuration: TransferConfiguration, allows: @escaping @Sendable (IPAddress) -> Bool) {
        Self.startLibrary()
        guard let multi = curl_multi_init() else { fatalError("no memory for a libcurl multi handle") }
        // The loop is made on its thread and never leaves it; the pointer goes there once.
        nonisolated(unsafe) let handle = multi
        // The loop closes the mailbox before it frees the handle.
        let mailbox = Mailbox<EngineMessage> { _ = curl_multi_wakeup(handle) }
        self.mailbox = mailbox
        thread = OwnedThread("darkroom-transfer") {
            TransferLoop(configuration, allows: allows, multi: handle, mailbox: mailbox).run()
        }
    }

    deinit { mailbox.post(.shutdown) }

    /// Begins to fetch `url` and returns at once; the completion is called exactly once, on the engine's thread.
    ///
    /// Blanks and letters outside ASCII in the URL are percent-encoded first. Faults that may pass are tried again
    /// (`TransferConfiguration.retries`). After `shutdown()` the completion gets `.cancelled` on the calling thread, before this returns.
    /// - Parameters:
    ///   - url: what to fetch.
    ///   - order: when it is its turn among those that wait.
    ///   - mayBegin: asked on the engine's thread right before each attempt; when it says no, nothing is sent and the
    ///     completion gets `.cancelled`.
    ///   - waits: called on the engine's thread when the transfer begins to wait, for a place or before another attempt. The
    ///     next call of `mayBegin` ends the wait.
    ///   - completion: gets the body, or why there is none.
    @discardableResult
    package func start(
        _ url: String, order: TransferOrder = TransferOrder(), mayBegin: (@Sendable () -> Bool)? = nil,
        waits: (@Sendable () -> Void)? = nil, completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> Transfer {
        start(
            Transfer(
                url: url, mailbox: mailbox, order: order, mayBegin: mayBegin, waits: waits, onChunk: nil,
                completion: completion))
    }

    /// Like `start(_:order:mayBegin:waits:completion:)` for a body that must not be held in memory: it goes to `onChunk` piece by piece, in order.
    ///
    /// `onChunk` is called on the engine's thread, only with the body of a successful answer; the bytes are valid during the call. It
    /// may block to slow the server down, in an engine that does nothing else, best without `TransferConfiguration.timeout`. After the
    /// first piece no fault is tried again, since what was handed over cannot be taken back. A file comes in one piece.
    @discardableResult
    package func start(
        _ url: String, onChunk: @escaping @Sendable (UnsafeRawBufferPointer) -> Void,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> Transfer {
        start(Transfer(url: url, mailbox: mailbox, onChunk: onChunk, completion: completion))
    }

    /// Aborts all transfers (their completions get `.cancelled`) and waits until the engine's thread is through,
    /// but not when called on that thread. May be called more than once.
    package func shutdown() {
        mailbox.post(.shutdown)
        thread.join()
    }

    /// How many transfers run at once from now on, see ``TransferConfiguration/maxRunning``; what runs goes on.
    package func setMaxRunning(_ count: Int) { mailbox.post(.limit(count)) }

    private func start(_ transfer: Transfer) -> Transfer {
        if !mailbox.post(.start(transfer)) { transfer.fail(.cancelled, "the transfer engine was shut down") }
        return transfer
    }

    /// libcurl's own start, once in the process.
    static func startLibrary() { _ = library }

    /// libcurl counts and locks by itself.
    private static let library = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
}
