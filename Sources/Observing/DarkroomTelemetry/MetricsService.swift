import DarkroomHTTP
import DarkroomMetrics

/// Answers requests for the metrics and the health of a process: `/metrics`, `/healthz` and `/readyz`.
///
/// The service needs no access rules, because it changes nothing and its answers contain no secrets.
package struct MetricsService: HTTPService {
    private let metrics: @Sendable () -> [UInt8]
    private let canWork: @Sendable () -> Bool

    /// - Parameters:
    ///   - metrics: returns the metrics in the text format of Prometheus. Must return quickly.
    ///   - canWork: returns whether the process can work now. Must return quickly.
    package init(metrics: @escaping @Sendable () -> [UInt8], canWork: @escaping @Sendable () -> Bool) {
        self.metrics = metrics
        self.canWork = canWork
    }

    package func knows(_ request: HTTPRequest) -> Bool { true }

    package func accept(_ request: HTTPRequest) -> BodyRule {
        guard page(request) != nil else {
            return .refused(error(404, "not found; there are /metrics, /healthz and /readyz\n"))
        }
        guard request.method.isSafe else {
            var refusal = error(405, "only GET and HEAD are allowed\n")
            refusal.headers.append(("Allow", "GET, HEAD"))
            return .refused(refusal)
        }
        return .none
    }

    package func answer(_ exchange: HTTPExchange) {
        guard let page = page(exchange.request) else { preconditionFailure("`accept` refuses other paths") }
        exchange.respond(response(page))
    }

    package func error(_ status: Int, _ text: String) -> HTTPResponse { HTTPResponse(status: status, text: text) }

    private enum Page: String {
        case metrics, healthz, readyz
    }

    private func page(_ request: HTTPRequest) -> Page? {
        request.target.path.count == 1 ? Page(rawValue: request.target.path[0]) : nil
    }

    private func response(_ page: Page) -> HTTPResponse {
        switch page {
        case .metrics:
            return HTTPResponse(headers: [("Content-Type", MetricsText.contentType)], body: .bytes(metrics()))
        case .healthz: return HTTPResponse(status: 200, text: "ok\n")
        case .readyz:
            // The response omits the reason, which may contain the address of Redis. The log shows the reason.
            return canWork()
                ? HTTPResponse(status: 200, text: "ok\n") : HTTPResponse(status: 503, text: "not ready; see the log\n")
        }
    }
}
