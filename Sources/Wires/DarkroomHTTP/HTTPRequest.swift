/// A request. All its texts come from a client that is not trusted.
package struct HTTPRequest: Sendable {
    package let method: HTTPMethod
    package let target: RequestTarget
    /// The header fields by lower-case name. The values of a repeated field are joined with `, `, except cookies, which
    /// are joined with `; `.
    package let headers: [String: String]
    /// The lower-case names of the header fields that occur several times.
    package let repeatedHeaders: Set<String>
    /// The address of the client, or of the proxy between the client and this server.
    package let client: String
    /// The complete body.
    package internal(set) var body = Body.bytes([])

    package enum Body: Sendable {
        case bytes([UInt8])
        case file(UploadedFile)
    }

    package init(
        method: HTTPMethod, target: RequestTarget, headers: [String: String], repeatedHeaders: Set<String> = [],
        client: String
    ) {
        self.method = method
        self.target = target
        self.headers = headers
        self.repeatedHeaders = repeatedHeaders
        self.client = client
    }

    /// The cookie with this name. If there are several, returns the first (RFC 6265, section 5.4).
    package func cookie(_ name: String) -> String? {
        for pair in (headers["cookie"] ?? "").split(separator: ";") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == name else { continue }
            return String(parts[1])
        }
        return nil
    }
}

/// How a server treats the body of a request.
package enum BodyRule: Sendable {
    /// A request with a body gets status 413.
    case none
    /// The body is kept in memory. A request with a larger body gets status 413.
    case memory(maxBytes: Int)
    /// The body is written to a new file in `folder`. A request with a larger body gets status 413.
    case file(folder: String, maxBytes: Int)
    /// The request gets this response before its body is read.
    case refused(HTTPResponse)

    var maxBytes: Int {
        switch self {
        case .none, .refused: 0
        case .memory(let maxBytes), .file(_, let maxBytes): maxBytes
        }
    }
}
