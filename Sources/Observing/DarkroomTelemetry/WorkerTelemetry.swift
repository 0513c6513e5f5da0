import DarkroomHTTP
import DarkroomLogging
import DarkroomWorker
import DarkroomWorkerState
import Foundation

/// The metrics and traces of one worker, if they are requested.
package final class WorkerTelemetry: Sendable {
    private let metrics: WorkerMetrics?
    private let traces: TraceExporter?

    /// - Parameters:
    ///   - hasMetrics: whether ``serve(_:at:)`` will be called.
    ///   - environment: the variables that request traces, see ``TraceSettings``.
    ///   - warn: called with a text about each variable that is ignored.
    package init(
        hasMetrics: Bool, environment: [String: String] = ProcessInfo.processInfo.environment, logger: Logger,
        warn: (String) -> Void
    ) {
        let instance = "\(ProcessInfo.processInfo.hostName)-\(getpid())"
        metrics = hasMetrics ? WorkerMetrics() : nil
        traces = TraceSettings(environment, instance: instance, warn: warn).map { TraceExporter($0, logger: logger) }
    }

    /// The observer for the configuration of the worker; nil if neither metrics nor traces are requested.
    package var observer: WorkerObserver? {
        switch (metrics, traces) {
        case (nil, nil): nil
        case (let metrics?, nil): { metrics.observe($0) }
        case (nil, let traces?): { traces.observe($0) }
        case (let metrics?, let traces?):
            {
                metrics.observe($0)
                traces.observe($0)
            }
        }
    }

    /// Serves the metrics and the health of the worker. The caller must stop the server.
    /// - Throws: `HTTPServerError` if the address cannot be used.
    package func serve(_ worker: Worker, at address: ListenAddress) throws(HTTPServerError) -> HTTPServer {
        guard let metrics else { preconditionFailure("metrics were not requested") }
        var limits = HTTPServerLimits()
        limits.connections = 64
        return try HTTPServer(
            MetricsService(
                metrics: { [traces] in metrics.text(worker.gauges, spansDropped: traces?.spansDropped ?? 0) },
                canWork: { worker.canWork }),
            at: address, limits: limits)
    }

    /// Exports the waiting traces for at most `patience`. Must be called when the worker has ended.
    package func stop(patience: Duration = .seconds(1)) { traces?.stop(patience: patience) }
}
