import Darkroom
import DarkroomHTTP
import DarkroomText

/// The failure of a request, as problem details: RFC 9457.
struct Problem: Error, Sendable {
    let status: Int
    /// A word for programs.
    let code: String
    /// What failed, on what, what was found, and what to do.
    let detail: String
    /// The methods that the address takes, for status 405.
    private let methods: [HTTPMethod]

    init(_ status: Int, _ code: String, _ detail: String, methods: [HTTPMethod] = []) {
        self.status = status
        self.code = code
        // A detail may quote a long value of the client.
        self.detail = detail.shortened(to: Self.mostScalars)
        self.methods = methods
    }

    /// The problem of a request that the HTTP server refuses.
    init(refused status: Int, _ detail: String) {
        let codes = [413: "tooLarge", 501: "notImplemented", 503: "busy", 507: "diskFull"]
        self.init(status, codes[status] ?? "badRequest", detail)
    }

    /// The problem that an error of the library causes.
    init(_ error: any Error, _ attempted: String) {
        if let problem = error as? Problem {
            self = problem
        } else {
            let error = DarkroomError(error, attempted)
            self.init(
                Self.statuses[error.code] ?? 500, error.code.description,
                (error.code == .redisUnreachable ? "Redis does not answer: " : "") + RemedyWording.fields.text(error))
        }
    }

    private static let mostScalars = 2000

    private static let statuses: [DarkroomError.Code: Int] = [
        .invalidConfiguration: 400, .invalidOptions: 400, .photosOutsideList: 400, .listEmpty: 400,
        .listUnreadable: 400,
        .circularDependency: 400, .noSuchBatch: 404, .manifestUnreadable: 404, .ambiguousName: 409, .batchDamaged: 409,
        .batchFinished: 409, .batchCancelled: 409, .batchStarted: 409, .batchUnfinished: 409, .photosNotFed: 409,
        .nameTaken: 409, .outputTaken: 409, .outputUnusable: 409, .listDiffers: 409, .redisUnreachable: 503,
        .busy: 503, .redisRefused: 502, .unsuitableRedis: 502,
    ]

    static let readOnly = Problem(
        403, "readOnly", "this server was started as read-only, so it changes nothing")
    static let noSubmission = Problem(
        403, "noSubmission", "this server takes no lists: it was started without a folder for their photos")

    var title: String { Self.titles[status] ?? "Error" }

    private static let titles = [
        400: "Bad request", 401: "Not logged in", 403: "Forbidden", 404: "Not found", 405: "Method not allowed",
        409: "Not possible now", 413: "Too large", 415: "Unknown content type", 422: "Not possible with this photo",
        500: "Error", 501: "Not implemented", 502: "Redis refused", 503: "Not available", 507: "Disk full",
    ]

    var json: JSON {
        [
            "type": .string("urn:darkroom:problem:\(code)"), "title": .string(title), "status": .int(status),
            "code": .string(code), "detail": .string(detail),
        ]
    }

    /// The header fields that belong to the status: RFC 9110, sections 10 and 11.
    var headers: [(name: String, value: String)] {
        switch status {
        case 401: [("WWW-Authenticate", "Bearer")]
        case 405:
            [("Allow", (methods + (methods.contains(.get) ? [.head] : [])).map(\.rawValue).joined(separator: ", "))]
        case 503: [("Retry-After", "2")]
        default: []
        }
    }

    var response: HTTPResponse {
        var response = HTTPResponse(json, status: status)
        response["Content-Type"] = "application/problem+json"
        return response
    }
}

extension RemedyWording {
    /// The words for clients of the HTTP API: a remedy names the field of the request if there is one.
    fileprivate static let fields = RemedyWording { remedy in
        if case .overwrite = remedy { "give \"overwrite\"" } else { RemedyWording.neutral.text(remedy) }
    }
}

extension HTTPResponse {
    init(_ json: JSON, status: Int = 200) {
        var bytes: [UInt8] = []
        json.append(to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        self.init(status: status, headers: [("Content-Type", "application/json")], body: .bytes(bytes))
    }
}
