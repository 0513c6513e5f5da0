internal import CCurl
import DarkroomConcurrency
import DarkroomHosts

/// Fetches many URLs concurrently.
///
/// The thread of the engine decides which transfer begins next, looks up host names, and calls all completions.
/// Completions must be short, because they delay all transfers. A few network threads run the attempts with libcurl's
/// multi interface. All attempts of a host run on the same thread. When an engine is deallocated, it ends its transfers
/// like `shutdown()`, but does not wait.
package final class TransferEngine: Sendable {
    private let mailbox: Mailbox<EngineMessage>
    private let thread: OwnedThread
    private let board: HostBoard

    /// - Parameter exchange: shares the limits of each host with the engines of other processes, so that all engines
    ///   together send a host no more requests than a single engine would. Nil if there are no other engines.
    package convenience init(_ configuration: TransferConfiguration, exchange: (any HostExchange)? = nil) {
        self.init(configuration, exchange: exchange, allows: configuration.addressPolicy.allows)
    }

    /// Starts an engine that calls `allows` on its network threads before each connection and each request.
    init(
        _ configuration: TransferConfiguration, exchange: (any HostExchange)? = nil,
        allows: @escaping @Sendable (IPAddress) -> Bool
    ) {
        Self.startLibrary()
        let wakeup = Wakeup()
        let mailbox = Mailbox<EngineMessage> { wakeup.signal() }
        let board = HostBoard()
        self.mailbox = mailbox
        self.board = board
        thread = OwnedThread("darkroom-transfer") {
            TransferLoop(
                configuration, exchange: exchange, allows: allows, mailbox: mailbox, wakeup: wakeup, board: board
            ).run()
        }
    }

    deinit { mailbox.post(.shutdown) }

    /// Starts to fetch `url` and returns at once. The completion is called exactly once, on the engine's thread.
    ///
    /// Spaces and non-ASCII characters in the URL are percent-encoded first. After temporary failures a transfer is
    /// tried again (`TransferConfiguration.retries`). After `shutdown()`, the completion receives `.cancelled` on the
    /// calling thread before this call returns.
    /// - Parameters:
    ///   - history: the attempts of an earlier transfer of the same URL, if the new transfer continues that transfer.
    ///   - makeHeaders: makes further headers for each request to the server of `url`.
    @discardableResult
    package func start(
        _ url: String, order: TransferOrder = TransferOrder(), steps: TransferSteps = TransferSteps(),
        history: RetryHistory = RetryHistory(), makeHeaders: HeaderMaker? = nil,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> Transfer {
        start(
            Transfer(
                url: url, mailbox: mailbox, order: order, steps: steps, history: history,
                makeHeaders: makeHeaders, onChunk: nil, completion: completion))
    }

    /// Like ``start(_:order:steps:history:makeHeaders:completion:)``, but for bodies that are too large for memory:
    /// `onChunk` receives the parts of the body in order.
    ///
    /// `onChunk` is called on a network thread (for files: on the engine's thread), before the completion, and only with
    /// the body of a successful response. The bytes are valid until `onChunk` returns. `onChunk` may block to slow the
    /// server down; if it does, `TransferConfiguration.timeout` should be nil. While `onChunk` blocks, other transfers
    /// of the same network thread wait, and their running attempts cannot be cancelled. After the first part the
    /// transfer is not tried again, because `onChunk` would receive the same bytes twice. A file is passed as one part.
    @discardableResult
    package func start(
        _ url: String, onChunk: @escaping @Sendable (UnsafeRawBufferPointer) -> Void,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> Transfer {
        start(Transfer(url: url, mailbox: mailbox, onChunk: onChunk, completion: completion))
    }

    /// Aborts all transfers, so that their completions receive `.cancelled`. Waits until the engine's thread has ended,
    /// unless this method is called on that thread. May be called more than once, but not in `onChunk`.
    package func shutdown() {
        mailbox.post(.shutdown)
        thread.join()
    }

    /// Lets only transfers of this and higher priorities begin. Running transfers continue.
    package func open(fromPriority lowest: Int) { mailbox.post(.open(lowestPriority: lowest)) }

    /// Calls ``TransferSteps/mayCarry`` again for the transfers for which it has returned false. First come all
    /// transfers that keep a part of their bodies. The others follow in the order of their priorities, until `mayCarry`
    /// returns false again.
    package func resume() { mailbox.post(.resume) }

    /// Counts deferred transfers of `group`, which this or another engine continues at `due`. Until then, the deferred
    /// transfers count as waiting in ``hosts``.
    /// - Parameter waiting: the number of transfers by host.
    package func count(deferred waiting: [String: Int], group: String, until due: ContinuousClock.Instant) {
        mailbox.post(.deferred(waiting, group: group, until: due))
    }

    /// The hosts whose transfers wait, run or have ended. The overview shows the state at the previous call, or up to
    /// about a second before that call. The first call returns an empty overview. Does not wait for the engine's
    /// thread.
    package var hosts: HostOverview {
        board.read { mailbox.post(.reportHosts) }
    }

    private func start(_ transfer: Transfer) -> Transfer {
        if !mailbox.post(.start(transfer)) { transfer.fail(.cancelled, "the transfer engine was shut down") }
        return transfer
    }

    /// Initializes libcurl once per process.
    static func startLibrary() { _ = library }

    /// curl_global_init is thread-safe and counts its calls.
    private static let library = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
}
