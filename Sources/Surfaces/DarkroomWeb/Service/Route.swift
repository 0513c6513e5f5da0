import DarkroomHTTP

/// A path of the server, and the function that answers the requests for it.
struct Route: Sendable {
    enum Access: Sendable {
        /// All clients. Host, Origin and the client's address are not checked, so that service managers can use the
        /// path for health checks.
        case probes
        /// Everybody, for example to log in.
        case everybody
        /// Clients that have logged in.
        case clients
        /// Clients that have logged in, and programs with the token for the metrics.
        case metrics
    }

    /// Whether a request changes batches or the cluster, or asks the user for such a change.
    /// ``WebConfiguration/isReadOnly`` forbids such requests.
    enum Effect: Sendable {
        case none
        case changes
    }

    /// The threads that make the answer.
    enum Pool: Sendable {
        /// No thread of a pool: the thread of the server makes the answer at once. For answers that must not wait for
        /// other answers, and need neither Redis nor the file system.
        case none
        /// For answers that need Redis and the file system.
        case calls
        /// For answers that need much processor time.
        case thumbnails
    }

    let method: HTTPMethod
    let pattern: PathPattern
    /// The parameters of the query. The query of an upload can also contain the fields of its body.
    let query: [QueryParameter]
    let access: Access
    let effect: Effect
    let pool: Pool
    let body: BodyKind
    let answer: @Sendable (Call) throws -> HTTPResponse

    enum BodyKind: Sendable, Equatable {
        case none
        /// Fields, in memory, with at most this many bytes.
        case fields(maxBytes: Int)
        /// Fields and a photo list, in a file.
        case upload
    }

    init(
        _ method: HTTPMethod, _ pattern: String, query: [QueryParameter] = [], access: Access = .clients,
        effect: Effect? = nil, pool: Pool = .calls, body: BodyKind? = nil,
        answer: @escaping @Sendable (Call) throws -> HTTPResponse
    ) {
        self.method = method
        self.pattern = PathPattern(pattern)
        self.query = query
        self.access = access
        self.effect = effect ?? (method.isSafe ? .none : .changes)
        self.pool = pool
        self.body = body ?? (method.isSafe ? .none : .fields(maxBytes: FormFields.maxBytes))
        self.answer = answer
    }
}

/// Thrown by a route whose answer needs so much memory that such answers are made one at a time.
struct LargeAnswer: Error {
    let make: @Sendable () throws -> HTTPResponse
}

/// The routes of a server.
struct RouteTable: Sendable {
    enum Match {
        case route(Route, parameters: [String: String])
        /// The path exists with other methods.
        case otherMethods([HTTPMethod])
        case nothing
    }

    let routes: [Route]

    func match(_ method: HTTPMethod, _ path: some Collection<String>) -> Match {
        var others: [HTTPMethod] = []
        for route in routes {
            guard let parameters = route.pattern.match(path) else { continue }
            if route.method == method || (method == .head && route.method == .get) {
                return .route(route, parameters: parameters)
            }
            others.append(route.method)
        }
        return others.isEmpty ? .nothing : .otherMethods(others)
    }
}
