/// One request of a transfer to a web server.
final class Attempt: Sendable {
    struct Outcome: Sendable {
        enum Result: Sendable {
            case downloaded(Download)
            /// The attempt was ended because it may not keep more of its body in memory yet. The next attempt needs
            /// memory for `bytes`.
            case cutOff(bytes: Int, hasBody: Bool)
            /// The server redirects the request to `location`, an absolute or relative URL.
            case redirected(location: [UInt8])
            case failed(TransferError)
        }

        let result: Result
        /// The information that the attempt gives about its host.
        var sign = HostSign.none
        /// Whether the sign counts for the host. The silence of a connection with several attempts counts once.
        var countsForHost = true
        /// Whether the server uses HTTP/2; nil if there was no response.
        var isMultiplexed: Bool?
        /// The requests of the attempt, including the requests that were redirected.
        var way: [RequestStop] = []
        /// Whether a request in ``way`` went to an address of the public internet.
        var hasBeenPublic = false
        /// If the server redirects the request: the cookies so far, see ``EasyHandle/cookies``.
        var cookies: [String] = []
        /// The duration of the requests in ``way``.
        var spent = Duration.zero
        /// Whether `onChunk` was called.
        var hasStreamed = false

        static func failed(_ code: TransferError.Code, _ detail: String) -> Outcome {
            Outcome(result: .failed(TransferError(code: code, detail: detail)))
        }
    }

    let transfer: Transfer
    /// The number of the attempt, counted from 1.
    let number: Int
    let request: Request
    /// The addresses of the host; empty if the URL contains an address in place of a host name.
    let addresses: [IPAddress]
    /// Whether the host is known to use HTTP/2, so that the attempt waits for a connection that is being opened.
    let sharesConnection: Bool
    /// The number of bytes of the body that the attempt may keep before it must call `mayCarry`.
    let allowance: Int
    /// The priority of the transfer, see ``TransferOrder``.
    let priority: Int
    let onChunk: (@Sendable (UnsafeRawBufferPointer) -> Void)?
    let mayCarry: (@Sendable (Int) -> Bool)?
    private let makeHeaders: HeaderMaker?

    init(
        _ transfer: Transfer, number: Int, _ request: Request, addresses: [IPAddress], sharesConnection: Bool
    ) {
        self.transfer = transfer
        self.sharesConnection = sharesConnection
        allowance = transfer.allowance
        priority = transfer.order.priority
        self.number = number
        self.request = request
        self.addresses = addresses
        onChunk = transfer.onChunk
        mayCarry = transfer.steps.mayCarry
        makeHeaders = transfer.makeHeaders
    }

    /// Calls the ``HeaderMaker`` for the request.
    var madeHeaders: [RequestHeader] {
        guard let makeHeaders, request.hop.isAtHome else { return [] }
        return makeHeaders(request.hop.url)
    }

    var host: String { request.hop.host }
}
