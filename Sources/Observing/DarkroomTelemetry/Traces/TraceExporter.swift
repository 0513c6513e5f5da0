import DarkroomConcurrency
import DarkroomLogging
import DarkroomTransfer
import DarkroomWorkerState

/// Exports the traces of photos to an OpenTelemetry collector, on a separate thread.
///
/// The worker never waits for the collector: a bounded number of traces waits for the export, and further traces are
/// dropped and counted.
package final class TraceExporter: Sendable {
    private struct State {
        var waiting: [PhotoTrace] = []
        var spansDropped = 0
        var isStopping = false
        /// Whether the last request has failed.
        var isFailing = false
        /// The time at which the running request is aborted; nil until ``stop(patience:)`` is called.
        var deadline: ContinuousClock.Instant?
    }

    /// The largest number of traces in a request.
    private static let maxTracesInRequest = 512
    /// The largest number of traces that wait for the export.
    private static let maxWaiting = 8192
    /// The interval at which waiting traces are sent, even if they are fewer than ``maxTracesInRequest``.
    private static let interval = Duration.seconds(1)
    /// The default of OTEL_EXPORTER_OTLP_TIMEOUT.
    private static let requestTimeout = Duration.seconds(10)
    /// The pauses between the attempts to send the same request.
    private static let pauses: [Duration] = [.seconds(1), .seconds(2), .seconds(4)]

    private let settings: TraceSettings
    private let logger: Logger
    private let state = Locked(State())
    private let news = Signal()
    private let thread = Locked<OwnedThread?>(nil)

    /// Starts the thread.
    package init(_ settings: TraceSettings, logger: Logger) {
        self.settings = settings
        self.logger = logger
        thread.withLock { $0 = OwnedThread("darkroom-traces") { [self] in run() } }
    }

    /// The number of spans that could not be exported.
    package var spansDropped: Int { state.withLock { $0.spansDropped } }

    /// Adds the traces of accepted photos that the sampler takes. Thread-safe, never blocks.
    package func observe(_ observation: WorkerObservation) {
        guard case .accepted(let accepted) = observation else { return }
        var traces: [PhotoTrace] = []
        for photo in accepted.photos {
            let low = UInt64.random(in: 1 ... .max)
            guard settings.sampler.takes(low) else { continue }
            traces.append(PhotoTrace(photo, of: accepted, id: (.random(in: 1 ... .max), low)))
        }
        guard !traces.isEmpty else { return }
        let isFull = state.withLock { state in
            let room = max(0, Self.maxWaiting - state.waiting.count)
            state.waiting += traces.prefix(room)
            state.spansDropped += traces.dropFirst(room).reduce(0) { $0 + $1.spanCount }
            return state.waiting.count >= Self.maxTracesInRequest
        }
        if isFull { news.raise() }
    }

    /// Sends the waiting traces for at most `patience`, drops the rest, and ends the thread. If `patience` is 0, does
    /// not wait until the thread has ended.
    package func stop(patience: Duration = .seconds(1)) {
        state.withLock { state in
            state.isStopping = true
            state.deadline = .now + patience
        }
        news.raise()
        // libcurl asks at least once per second whether to abort a request.
        if patience > .zero { _ = thread.withLock { $0 }?.join(timeout: patience + .seconds(2)) }
    }

    private func run() {
        while true {
            news.wait(timeout: Self.interval)
            let isLast = state.withLock { $0.isStopping }
            while case let traces = take(), !traces.isEmpty { export(traces) }
            if isLast { return }
        }
    }

    /// Removes and returns the traces of the next request.
    private func take() -> ArraySlice<PhotoTrace> {
        state.withLock { state in
            let traces = state.waiting.prefix(Self.maxTracesInRequest)
            state.waiting.removeFirst(traces.count)
            return traces
        }
    }

    /// Sends the traces in one request, and tries again after temporary failures.
    private func export(_ traces: ArraySlice<PhotoTrace>) {
        guard !isOverdue else { return drop(traces) }
        let body = OTLP.request(traces, of: settings.resource)
        var pauses = Self.pauses[...]
        while let failure = post(body) {
            guard failure.isTemporary, let pause = pauses.popFirst(), pausedFor(pause) else {
                drop(traces)
                return warn(failure.detail, traces.count)
            }
        }
        state.withLock { $0.isFailing = false }
    }

    /// Logs a failure. Further failures are not logged until a request has succeeded.
    private func warn(_ detail: String, _ traces: Int) {
        let isFirst = state.withLock { state in
            defer { state.isFailing = true }
            return !state.isFailing
        }
        guard isFirst else { return }
        logger.warning(
            "traces were not exported, further failures are only counted", key: "",
            ["traces": .number(traces), "detail": .text(detail)])
    }

    private func drop(_ traces: ArraySlice<PhotoTrace>) {
        state.withLock { $0.spansDropped += traces.reduce(0) { $0 + $1.spanCount } }
    }

    /// - Returns: the reason why the collector did not accept the request; nil if it did.
    private func post(_ body: [UInt8]) -> (detail: String, isTemporary: Bool)? {
        let post = WebPost(headers: settings.headers, timeout: Self.requestTimeout) { [self] in isOverdue }
        do throws(TransferError) {
            let status = try post.send(body, to: settings.url)
            // https://opentelemetry.io/docs/specs/otlp/#failures-1
            return (200..<300).contains(status)
                ? nil : ("HTTP status \(status)", [429, 502, 503, 504].contains(status))
        } catch {
            return (error.detail, !isOverdue)
        }
    }

    private var isOverdue: Bool { state.withLock { $0.deadline.map { .now >= $0 } ?? false } }

    /// Waits for `pause`, or until the exporter is stopping. Returns false if the exporter is stopping.
    private func pausedFor(_ pause: Duration) -> Bool {
        let end = ContinuousClock.now + pause
        while !state.withLock({ $0.isStopping }), .now < end { news.wait(timeout: end - .now) }
        return !state.withLock { $0.isStopping }
    }
}
