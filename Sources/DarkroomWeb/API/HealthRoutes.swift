import Darkroom
import DarkroomConcurrency
import DarkroomHTTP
import DarkroomStore

/// The routes for probes of service managers. They tell nothing about batches, so they need no login.
enum HealthRoutes {
    static let all: [Route] = [
        // The process answers.
        Route(.get, "/healthz", access: .probes, pool: .none) { _ in HTTPResponse(status: 200, text: "ok\n") },
        // Redis answers, so requests can succeed.
        Route(.get, "/readyz", access: .probes) { call in
            call.site.readiness.isReady
                ? HTTPResponse(status: 200, text: "ok\n") : HTTPResponse(status: 503, text: "Redis does not answer\n")
        },
    ]
}

/// Whether Redis answers. It is asked at most once a second and by one thread at a time, however many clients want to
/// know it.
final class Readiness: Sendable {
    private struct State {
        var isReady = false
        var asked: ContinuousClock.Instant?
        var isAsking = false
    }

    private let client: DarkroomClient
    private let state = Locked(State())

    init(_ client: DarkroomClient) { self.client = client }

    /// Blocks while Redis is asked.
    var isReady: Bool {
        let known = state.withLock { state -> Bool? in
            if state.isAsking { return state.isReady }
            if let asked = state.asked, .now - asked < .seconds(1) { return state.isReady }
            state.isAsking = true
            return nil
        }
        if let known { return known }
        let isReady: Bool
        do throws(StoreError) {
            _ = try client.store.time()
            isReady = true
        } catch {
            isReady = false
        }
        state.withLock { $0 = State(isReady: isReady, asked: .now) }
        return isReady
    }
}
