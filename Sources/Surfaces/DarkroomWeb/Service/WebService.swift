import Darkroom
import DarkroomConcurrency
import DarkroomHTTP
import Foundation

/// Finds the route of each request, and answers on its own threads.
final class WebService: HTTPService {
    private let site: Site
    private let routes: RouteTable
    private let calls = BoundedPool("web", maxThreads: 16, maxWaiting: 500)
    private let thumbnails: BoundedPool
    private let largeAnswers = BoundedPool("large-answers", maxThreads: 1, maxWaiting: 500)

    init(_ site: Site, _ routes: [Route]) {
        self.site = site
        self.routes = RouteTable(routes: routes)
        // Each thread occupies a helper process, which needs memory, so a large machine has at most 8 of these threads.
        let threads = min(ProcessInfo.processInfo.activeProcessorCount, 8)
        thumbnails = BoundedPool("thumbnails", maxThreads: threads, maxWaiting: 2000)
    }

    /// Discards the requests that wait.
    func close() {
        calls.close()
        thumbnails.close()
        largeAnswers.close()
    }

    // MARK: - On the server's thread

    func accept(_ request: HTTPRequest) -> BodyRule {
        do throws(Problem) {
            let (route, _) = try route(of: request)
            try check(request, route)
            return switch route.body {
            case .none: .none
            case .fields(let maxBytes): .memory(maxBytes: maxBytes)
            case .upload: .file(folder: site.configuration.scratchFolder, maxBytes: site.configuration.uploadBytes)
            }
        } catch {
            return .refused(response(error, to: request))
        }
    }

    func knows(_ request: HTTPRequest) -> Bool {
        site.access.decision(on: request) == .allowed || site.access.mayReadMetrics(request)
    }

    func answer(_ exchange: HTTPExchange) {
        let request = exchange.request
        do throws(Problem) {
            let (route, parameters) = try route(of: request)
            let job: @Sendable () -> Void = { [self] in
                let call = Call(site, request, parameters) { exchange.clientHasLeft }
                respond(to: exchange, route, call) { try route.answer(call) }
            }
            let isTaken =
                switch route.pool {
                case .none:
                    {
                        job()
                        return true
                    }()
                case .calls: calls.perform(job)
                case .thumbnails: thumbnails.perform(job)
                }
            if !isTaken { throw Self.busy }
        } catch {
            exchange.respond(response(error, to: request))
        }
    }

    func error(_ status: Int, _ text: String) -> HTTPResponse {
        answer(to: Problem(refused: status, String(text.prefix { $0 != "\n" }))) { $0.response }
    }

    private func route(of request: HTTPRequest) throws(Problem) -> (Route, [String: String]) {
        guard let path = site.pathBelowPrefix(request.target.path) else { throw Self.noPage(request) }
        switch routes.match(request.method, path) {
        case .route(let route, let parameters): return (route, parameters)
        case .otherMethods(let methods):
            throw Problem(
                405, "methodNotAllowed",
                "this address does not take \(request.method.rawValue); it takes "
                    + methods.map(\.rawValue).joined(separator: ", "), methods: methods)
        case .nothing: throw Self.noPage(request)
        }
    }

    private static let busy = Problem(503, "busy", "the server has too many requests; try again in a moment")

    private static func noPage(_ request: HTTPRequest) -> Problem {
        Problem(404, "noSuchPage", "there is no /" + request.target.path.joined(separator: "/"))
    }

    private func check(_ request: HTTPRequest, _ route: Route) throws(Problem) {
        guard route.access != .probes else { return }
        if route.access == .metrics, site.access.mayReadMetrics(request) { return }
        switch site.access.decision(on: request) {
        case .refused(let why): throw Problem(403, "forbidden", why)
        case .unknownClient where route.access != .everybody:
            throw Problem(
                401, "notLoggedIn",
                site.access.hasToken
                    ? "log in with the token of the server: it is printed when the server starts, or is in its token file"
                    : "the proxy has named no user")
        case .unknownClient, .allowed: break
        }
        if site.configuration.isReadOnly, route.effect == .changes { throw Problem.readOnly }
        var query = route.query
        if route.body == .upload {
            // Refused here, because otherwise the server would receive a large list before it refuses the list.
            guard site.configuration.submission != nil else { throw Problem.noSubmission }
            query += SubmissionRoutes.fields.map(QueryParameter.repeatable)
        }
        // Pages ignore unknown parameters, because other sites add parameters to links.
        if isOfAPI(request) { try query.check(request.target.query) }
    }

    // MARK: - On the threads of the pools, or on the server's thread

    private func respond(
        to exchange: HTTPExchange, _ route: Route, _ call: Call, _ make: () throws -> HTTPResponse
    ) {
        do {
            let made = try make()
            if route.effect == .changes, !route.method.isSafe { log(call.request, made) }
            exchange.respond(secured(made, for: call.request))
        } catch let large as LargeAnswer {
            let isTaken = largeAnswers.perform { [self] in respond(to: exchange, route, call, large.make) }
            if !isTaken { exchange.respond(response(Self.busy, to: call.request)) }
        } catch {
            exchange.respond(response(error, of: route, call))
        }
    }

    /// Logs that a client has changed something.
    private func log(_ request: HTTPRequest, _ response: HTTPResponse) {
        site.configuration.logger.info(
            "changed through the web server",
            [
                "request": .text("\(request.method.rawValue) /" + request.target.path.joined(separator: "/")),
                "user": .text(site.access.user(of: request)), "client": .text(request.client),
                "forwarded": .text(request.headers["x-forwarded-for"] ?? ""), "status": .number(response.status),
            ])
    }

    private func response(_ error: any Error, of route: Route, _ call: Call) -> HTTPResponse {
        if let failure = error as? FormFailure {
            return answer(to: failure.problem, of: call.request) {
                wantsPage(call.request) ? failure.page : $0.response
            }
        }
        return response(Problem(error, "answer \(route.method.rawValue) \(route.pattern.text)"), to: call.request)
    }

    private func response(_ problem: Problem, to request: HTTPRequest) -> HTTPResponse {
        answer(to: problem, of: request) { problem in
            guard wantsPage(request) else { return problem.response }
            if problem.status == 401, site.access.hasToken { return LoginPage(site, request).response() }
            return ProblemPage(site: site, problem: problem, isPublic: site.access.decision(on: request) != .allowed)
                .response
        }
    }

    private func answer(
        to problem: Problem, of request: HTTPRequest? = nil, _ make: (Problem) -> HTTPResponse
    ) -> HTTPResponse {
        var response = make(problem)
        response.headers += problem.headers
        return secured(response, for: request)
    }

    /// Whether a person reads the answer.
    private func wantsPage(_ request: HTTPRequest) -> Bool {
        !isOfAPI(request) && request.headers["accept"]?.contains("text/html") == true
    }

    private func isOfAPI(_ request: HTTPRequest) -> Bool {
        site.pathBelowPrefix(request.target.path)?.first == "api"
    }

    /// Adds the header fields that protect browsers.
    /// - Parameter request: nil if it was not read.
    private func secured(_ response: HTTPResponse, for request: HTTPRequest? = nil) -> HTTPResponse {
        var response = response
        if let request, site.access.mayRequireTLS(request) {
            response["Strict-Transport-Security"] = "max-age=86400"  // the field holds for all ports of the host
        }
        for (name, value) in Self.protection where response[name] == nil { response[name] = value }
        return response
    }

    private static let protection = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
        // With "no-referrer", browsers send forms with "Origin: null", which is refused.
        ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ]
}

/// A thread pool that refuses jobs if too many of them wait.
private final class BoundedPool: Sendable {
    private let pool: ThreadPool
    private let most: Int
    private let count = Locked(0)

    init(_ name: String, maxThreads: Int, maxWaiting: Int) {
        pool = ThreadPool(name, maxThreads: maxThreads)
        most = maxThreads + maxWaiting
    }

    /// Returns false if the job is refused.
    func perform(_ job: @escaping @Sendable () -> Void) -> Bool {
        let isTaken = count.withLock { count in
            guard count < most else { return false }
            count += 1
            return true
        }
        guard isTaken else { return false }
        pool.perform { [self] in
            defer { count.withLock { $0 -= 1 } }
            job()
        }
        return true
    }

    func close() { pool.close() }
}
