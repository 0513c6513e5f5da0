import DarkroomLogging
import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomTelemetry
@testable import DarkroomWorkerState

@Suite struct TraceExporterTests {
    /// Photos that failed before their download.
    private static func accepted(_ count: Int) -> AcceptedPhotos {
        let batch: BatchID = "20261121-090501-abcdef"
        let now = ContinuousClock.now
        let photos = (0..<count).map { index in
            FinishedPhoto(
                record: PhotoRecord(index: index, name: "", url: "NO URL"), position: index, state: .failed(.notAURL),
                bytesIn: 0, bytesOut: 0, times: PhotoTimes(), ended: now)
        }
        return AcceptedPhotos(
            operation: HeldOperation(batch: batch, number: 1, fencingToken: 1), photos: photos, claimed: now,
            reportBegan: now, reportEnded: now)
    }

    /// A server that accepts connections and never answers, and an exporter to it.
    private static func silent() throws -> (TCPProxy, TraceExporter) {
        let proxy = try TCPProxy(to: RedisServer.freePort())
        proxy.freeze()
        let environment = ["OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:\(proxy.port)"]
        let settings = try #require(TraceSettings(environment, instance: "test") { Issue.record("\($0)") })
        return (proxy, TraceExporter(settings, logger: .silent))
    }

    @Test func boundedNumberOfTracesWaitsForASilentCollector() throws {
        let (proxy, exporter) = try Self.silent()
        defer { proxy.close() }
        // If the worker waited for the collector, this would not end.
        for _ in 1...20 { exporter.observe(.accepted(Self.accepted(1000))) }
        // At most 8,192 traces wait and 512 are in the request. Each trace has the spans `photo` and `report`.
        #expect(exporter.spansDropped >= 2 * (20_000 - 8192 - 512) && exporter.spansDropped < 40_000)
        let began = ContinuousClock.now
        exporter.stop()
        #expect(ContinuousClock.now - began < .seconds(10), "a silent collector must not delay the end")
        #expect(exporter.spansDropped == 40_000)
    }

    @Test func stopWithoutTracesIsImmediate() throws {
        // Other tests may use all cores for a moment, so a slow attempt is repeated.
        var times: [Duration] = []
        repeat {
            let (proxy, exporter) = try Self.silent()
            defer { proxy.close() }
            let began = ContinuousClock.now
            exporter.stop()
            times.append(.now - began)
            #expect(exporter.spansDropped == 0 && proxy.accepted == 0)
        } while times.allSatisfy { $0 >= .seconds(2) } && times.count < 5
        #expect(times.contains { $0 < .seconds(2) }, "\(times)")
    }
}
