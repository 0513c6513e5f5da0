import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomMetrics

@Suite struct MetricsTextTests {
    @Test func writesHelpTypeAndSamplesOfEachMetric() {
        var text = MetricsText()
        text.counter(
            "photos_total", "Photos by result.",
            [.init(12, ["result": "filtered"]), .init(0, ["result": "failed", "reason": "timeout"])])
        text.gauge("bytes_held", "Bytes in memory.", 0.25)
        #expect(
            String(decoding: text.bytes, as: UTF8.self) == """
                # HELP photos_total Photos by result.
                # TYPE photos_total counter
                photos_total{result="filtered"} 12
                photos_total{result="failed",reason="timeout"} 0
                # HELP bytes_held Bytes in memory.
                # TYPE bytes_held gauge
                bytes_held 0.25

                """)
    }

    @Test func escapesLabelValuesAndHelp() {
        var text = MetricsText()
        text.gauge("a", "one\\two\n\"three\"", [.init(1, ["path": "C:\\\"x\"\n\u{e9}"])])
        #expect(
            String(decoding: text.bytes, as: UTF8.self) == #"""
                # HELP a one\\two\n"three"
                # TYPE a gauge
                a{path="C:\\\"x\"\né"} 1

                """#)
    }

    @Test func writesNumbersThatPrometheusReads() {
        let texts: [(Double, String)] = [
            (0, "0"), (-3, "-3"), (0.001, "0.001"), (1e-7, "1e-07"), (9_007_199_254_740_991, "9007199254740991"),
            (1e21, "1e+21"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
            (1_700_000_000.25, "1700000000.25"),
        ]
        for (value, text) in texts { #expect(MetricsText.text(of: value) == text) }
    }

    @Test func histogramIsCumulative() {
        var histogram = Histogram([0.1, 1])
        for value in [0.05, 0.1, 0.5, 7] { histogram.observe(value) }
        histogram.observe(.milliseconds(250))
        var text = MetricsText()
        text.histogram("wait_seconds", "Wait.", histogram)
        #expect(
            String(decoding: text.bytes, as: UTF8.self) == """
                # HELP wait_seconds Wait.
                # TYPE wait_seconds histogram
                wait_seconds_bucket{le="0.1"} 2
                wait_seconds_bucket{le="1"} 4
                wait_seconds_bucket{le="+Inf"} 5
                wait_seconds_sum 7.9
                wait_seconds_count 5

                """)
        #expect(histogram.count == 5)
    }

    @Test func readsTheFiguresOfThisProcess() throws {
        let before = ProcessFigures.current
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/null"))
        let after = ProcessFigures.current
        #expect(after.openFiles >= 4 && after.openFiles <= after.maxOpenFiles)
        #expect(after.cpuSeconds >= before.cpuSeconds && before.cpuSeconds > 0)
        #expect(after.residentBytes > 1 << 20 && after.virtualBytes > after.residentBytes)
        // The process has started before now, and its age is not longer than that of the system.
        let now = Date().timeIntervalSince1970
        #expect(after.started <= now + 1 && after.started >= now - ProcessInfo.processInfo.systemUptime - 2)
        #expect(abs(after.started - before.started) < 1)
        try file.close()
    }

    @Test func promtoolAcceptsTheText() throws {
        var text = MetricsText()
        text.process(.current)
        var histogram = Histogram([0.5])
        histogram.observe(1)
        text.histogram("wait_seconds", "Wait.", histogram)
        text.gauge("paths", "A \\ and\na line.", [.init(.nan, ["path": "\\\"\n"])])
        #expect(try PromTool.findings(in: String(decoding: text.bytes, as: UTF8.self)) == "")
    }
}
