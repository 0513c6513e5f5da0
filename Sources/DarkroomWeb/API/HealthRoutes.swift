import Darkroom
import DarkroomHTTP
import DarkroomStore

/// The routes for probes of service managers. They tell nothing about batches, so no login is needed.
enum HealthRoutes {
    static let all: [Route] = [
        // The process answers.
        Route(.get, "/healthz", access: .everybody) { _ in HTTPResponse(status: 200, text: "ok\n") },
        // Redis answers, so requests can succeed.
        Route(.get, "/readyz", access: .everybody) { call in
            do throws(StoreError) {
                _ = try call.client.store.time()
            } catch {
                return HTTPResponse(status: 503, text: "Redis does not answer\n")
            }
            return HTTPResponse(status: 200, text: "ok\n")
        },
    ]
}
