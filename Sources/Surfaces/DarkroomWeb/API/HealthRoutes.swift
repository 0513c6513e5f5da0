import Darkroom
import DarkroomConcurrency
import DarkroomHTTP
import DarkroomStore

/// The routes for probes of service managers. They reveal nothing about batches, so they need no login.
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

/// Whether Redis answers. Redis is asked at most once a second and by one thread at a time, regardless of the number of
/// requests.
final class Readiness: Sendable {
    private struct State {
        var isReady = false
        var asked: ContinuousClock.Instant?
        var isAsking = false
    }

    /// The time for which an answer of Redis is reused while the next answer is late.
    private static let longest = Duration.seconds(3)

    private let client: DarkroomClient
    private let state = Locked(State())

    init(_ client: DarkroomClient) { self.client = client }

    /// Blocks while Redis is asked.
    var isReady: Bool {
        let known = state.withLock { state -> Bool? in
            let age = state.asked.map { .now - $0 } ?? Self.longest
            if age < .seconds(1) { return state.isReady }
            // Redis may be slow to answer.
            if state.isAsking { return state.isReady && age < Self.longest }
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
