internal import CMicrohttpd
import DarkroomConcurrency
import DarkroomText

/// A request that waits for its response.
package final class HTTPExchange: Sendable {
    package let request: HTTPRequest
    private let transaction: Transaction

    init(_ request: HTTPRequest, _ transaction: Transaction) {
        self.request = request
        self.transaction = transaction
    }

    /// Whether the client has closed its connection, or has shut down its sending side. False if this is not known.
    package var clientHasLeft: Bool { transaction.clientHasLeft }

    deinit { transaction.respond(HTTPResponse(status: 500, text: "no response\n")) }  // ignored after `respond`

    /// Sends the response, from any thread. Only the first call has an effect.
    package func respond(_ response: HTTPResponse) { transaction.respond(response) }
}

/// One request in libmicrohttpd, from its target to its response.
///
/// Properties that can change, except `answer`, are used on the server's thread only.
final class Transaction: @unchecked Sendable {
    private enum Phase { case target, body, handling, answered }

    private struct Answer {
        /// The response; nil before it is given and after it is queued.
        var response: HTTPResponse?
        var isGiven = false
        /// Whether libmicrohttpd has ended the request.
        var hasEnded = false
        /// The connection while it is suspended; otherwise nil.
        var suspended: OpaquePointer?
    }

    private let target: RequestTarget?
    private var gaps: HeadGaps
    private let core: ServerCore
    private var phase = Phase.target
    private var request: HTTPRequest?
    private var rule = BodyRule.none
    private var bytes: [UInt8] = []
    private var file: UploadedFile?
    private var stream: ResponseStream?
    /// The number of bytes of this request that count against ``HTTPServerLimits/bodyBytes``.
    private var reserved = 0
    /// Whether the connection is closed after the response.
    private var closes = false
    /// Whether the body counts against ``HTTPServerLimits/bodyFiles``.
    private var hasBodyFile = false
    /// The number of bytes that may still be read and discarded after a body could not be stored. These bytes are read
    /// because libmicrohttpd cannot respond before the end of the body.
    private var discarded = 0
    private let answer = Locked(Answer())

    init(target: UnsafeBufferPointer<UInt8>, _ core: ServerCore) {
        self.target = RequestTarget(target)
        gaps = HeadGaps(target)
        self.core = core
    }

    // MARK: - On the server's thread

    /// Handles a call of libmicrohttpd's access handler.
    func handle(
        _ connection: OpaquePointer, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>,
        _ data: UnsafePointer<CChar>?,
        _ size: inout Int
    ) -> MHD_Result {
        switch phase {
        case .target:
            phase = .body
            gaps.add(method: method)
            gaps.add(version)
            accept(connection, String(cString: method))
            let hasBody = Self.hasBody(connection)
            // If a response is queued in this call, libmicrohttpd closes the connection and does not read the rejected
            // body. Without a body, the response can wait for the next call, and the connection stays open.
            guard hasBody else { return .YES }
            core.connections.began(.receiving, connection)
            return refusal.map { queue($0, connection) } ?? .YES
        case .body where size > 0:
            defer { size = 0 }
            // The body is too long, and its length was not declared; a declared length would have been rejected at
            // once. Closes the connection.
            guard take(UnsafeRawBufferPointer(start: data, count: size)) else { return .NO }
            core.connections.noteReceived(size, connection)
            return .YES
        case .body:
            phase = .handling
            if refusal == nil, !core.begin() { refuse(503, "the server is stopping\n") }
            if let refusal { return queue(refusal, connection) }
            handOver(connection)
            return wait(connection)
        case .handling: return wait(connection)
        case .answered: return .NO
        }
    }

    /// Called when libmicrohttpd has ended the request.
    func end() {
        // If the client closed the connection while the service made the response, the response was not queued.
        let unsent = answer.withLock { answer in
            answer.hasEnded = true
            defer { answer.response = nil }
            return answer.response
        }
        unsent?.discard()
        (bytes, file) = ([], nil)
        if let stream { core.remove(stream) }
        stream = nil
        core.release(bodyBytes: reserved)
        reserved = 0
        if hasBodyFile { core.releaseBodyFile() }
        hasBodyFile = false
    }

    private var refusal: HTTPResponse? { if case .refused(let response) = rule { response } else { nil } }

    private func accept(_ connection: OpaquePointer, _ method: String) {
        let headers = RequestHeaders(of: connection, &gaps)
        // A proxy and libmicrohttpd may disagree about the end of such a request. Therefore later bytes are not read.
        closes = true
        if headers.isContradictory { return refuse(400, "a header field is repeated\n") }
        if headers.hasInvalidName { return refuse(400, "a header field has an invalid name\n") }
        if gaps.areAmbiguous {
            return refuse(400, "the head of the request has a NUL, a CR or a LF alone, or a field of several lines\n")
        }
        if let coding = headers.fields["transfer-encoding"] {
            guard coding.lowercased() == "chunked" else {
                return refuse(501, "the transfer coding is not supported; it can be chunked\n")
            }
            guard headers.fields["content-length"] == nil else {
                return refuse(400, "the request has Content-Length and Transfer-Encoding\n")
            }
        } else {
            closes = false
        }
        guard let target else { return refuse(400, "the request target is not valid\n") }
        guard let method = HTTPMethod(rawValue: method) else { return refuse(501, "the method is not supported\n") }
        let request = HTTPRequest(
            method: method, target: target, headers: headers.fields, repeatedHeaders: headers.repeated,
            client: Self.client(of: connection))
        self.request = request
        core.connections.identified(core.service.knows(request), connection)
        rule = core.service.accept(request)
        if case .refused = rule { return }
        let length = headers.fields["content-length"].flatMap { Int($0) }
        if let length, length > rule.maxBytes {
            return refuse(413, "the body has \(length) bytes; at most \(rule.maxBytes) are allowed\n")
        }
        let hasBody = Self.hasBody(connection)
        switch rule {
        case .none: if hasBody { refuse(413, "a body is not allowed\n") }
        case .memory(let maxBytes):
            reserved = hasBody ? length ?? maxBytes : 0
            guard core.reserve(bodyBytes: reserved) else {
                reserved = 0
                return refuse(503, "the server holds too many request bodies; try again in a moment\n")
            }
        case .file(let folder, _):
            hasBodyFile = hasBody && core.reserveBodyFile()
            guard hasBodyFile || !hasBody else {
                return refuse(503, "the server receives too many files; try again in a moment\n")
            }
            file = UploadedFile(in: folder)
            if file == nil { refuse(507, "the body cannot be stored: \(systemErrorText())\n") }
        case .refused: break
        }
    }

    private func refuse(_ status: Int, _ text: String) { rule = .refused(core.service.error(status, text)) }

    /// Returns false if the connection must be closed.
    private func take(_ data: UnsafeRawBufferPointer) -> Bool {
        if let file {
            guard file.size + data.count <= rule.maxBytes else { return false }
            if file.append(data) { return true }
            discarded = rule.maxBytes - file.size
            let why = systemErrorText()
            self.file = nil
            refuse(507, "the body cannot be stored: \(why)\n")
        }
        if refusal != nil {
            discarded -= data.count
            return discarded >= 0
        }
        guard bytes.count + data.count <= rule.maxBytes else { return false }
        bytes.append(contentsOf: data)
        return true
    }

    private func handOver(_ connection: OpaquePointer) {
        guard var request else { preconditionFailure("a request without a head is refused") }
        if let file {
            file.close()
            request.body = .file(file)
        } else {
            request.body = .bytes(bytes)
        }
        (bytes, file) = ([], nil)
        core.connections.began(.handling, connection)
        core.service.answer(HTTPExchange(request, self))
    }

    /// Queues the response if it has been given. Otherwise suspends the connection until ``respond(_:)`` is called.
    private func wait(_ connection: OpaquePointer) -> MHD_Result {
        let response = answer.withLock { answer -> HTTPResponse? in
            if answer.response == nil {
                MHD_suspend_connection(connection)
                answer.suspended = connection
            }
            defer { answer.response = nil }
            return answer.response
        }
        return response.map { queue($0, connection) } ?? .YES
    }

    private func queue(_ response: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
        phase = .answered
        if case .stream(let stream) = response.body {
            self.stream = stream
            core.add(stream)
        }
        core.connections.began(.sending(bytes: response.body.size, stream), connection)
        var response = response
        if closes { response["Connection"] = "close" }
        return response.queue(on: connection)
    }

    // MARK: - On any thread

    var clientHasLeft: Bool {
        answer.withLock { answer in
            // libmicrohttpd does not close a suspended connection, so the socket is still the client's.
            answer.hasEnded || answer.suspended.map(core.connections.hasLeft) ?? false
        }
    }

    func respond(_ response: HTTPResponse) {
        let (isFirst, isTaken, suspended) = answer.withLock { answer -> (Bool, Bool, OpaquePointer?) in
            guard !answer.isGiven else { return (false, false, nil) }
            answer.isGiven = true
            if !answer.hasEnded { answer.response = response }
            defer { answer.suspended = nil }
            return (true, !answer.hasEnded, answer.suspended)
        }
        if !isTaken { response.discard() }
        guard isFirst else { return }
        if let suspended { MHD_resume_connection(suspended) }
        core.finish()
    }

    private static func hasBody(_ connection: OpaquePointer) -> Bool {
        func value(_ name: String) -> String? {
            MHD_lookup_connection_value(connection, .HEADER_KIND, name).map { String(cString: $0) }
        }
        return value("Transfer-Encoding") != nil || !["0", nil].contains(value("Content-Length"))
    }

    private static func client(of connection: OpaquePointer) -> String {
        guard let address = darkroom_mhd_client(connection) else { return "" }
        return IPAddress.canonical(SocketAddress.text(of: address)) ?? ""
    }
}
