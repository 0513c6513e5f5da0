import DarkroomHTTP
import DarkroomMetrics

/// Answers requests for the metrics and the health of a process: `/metrics`, `/healthz` and `/readyz`.
///
/// It needs no access rules, because it changes nothing and its answers contain no secrets.
package struct MetricsService: HTTPService {
    private let metrics: @Sendable () -> [UInt8]
    private let obstacle: @Sendable () -> String?

    /// - Parameters:
    ///   - metrics: returns the metrics in the text format of Prometheus. Must return quickly.
    ///   - obstacle: returns why the process cannot work now; nil if it can. Must return quickly.
    package init(metrics: @escaping @Sendable () -> [UInt8], obstacle: @escaping @Sendable () -> String?) {
        self.metrics = metrics
        self.obstacle = obstacle
    }

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
            guard let obstacle = obstacle() else { return HTTPResponse(status: 200, text: "ok\n") }
            return HTTPResponse(status: 503, text: obstacle + "\n")
        }
    }
}
