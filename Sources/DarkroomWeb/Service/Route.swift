import DarkroomHTTP

/// What the server answers to requests for a path.
struct Route: Sendable {
    enum Access: Sendable {
        /// Everybody, for example to log in.
        case everybody
        /// Clients that have logged in.
        case clients
    }

    /// Whether a request changes batches or the cluster, which ``WebConfiguration/isReadOnly`` forbids.
    enum Effect: Sendable {
        case none
        case changes
    }

    /// The threads that make the answer.
    enum Pool: Sendable {
        /// For answers that need Redis and the file system.
        case calls
        /// For answers that need much processor time.
        case thumbnails
    }

    let method: HTTPMethod
    let pattern: PathPattern
    let access: Access
    let effect: Effect
    let pool: Pool
    let body: BodyKind
    let answer: @Sendable (Call) throws -> HTTPResponse

    enum BodyKind: Sendable {
        case none
        /// Fields, in memory.
        case fields
        /// Fields and a photo list, in a file.
        case upload
    }

    init(
        _ method: HTTPMethod, _ pattern: String, access: Access = .clients, effect: Effect? = nil, pool: Pool = .calls,
        body: BodyKind? = nil, answer: @escaping @Sendable (Call) throws -> HTTPResponse
    ) {
        self.method = method
        self.pattern = PathPattern(pattern)
        self.access = access
        self.effect = effect ?? (method.isSafe ? .none : .changes)
        self.pool = pool
        self.body = body ?? (method.isSafe ? .none : .fields)
        self.answer = answer
    }
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
