import Darkroom
import DarkroomStore

/// A chart of the last hour, as SVG.
struct Chart {
    /// A line of a chart.
    struct Line {
        let name: String
        /// Values by the time in milliseconds since 1970, in the order of time.
        let points: [(time: Int, value: Double)]
    }

    private static let (width, height) = (360, 110)
    private static let span = 3_600_000

    let title: String
    let lines: [Line]
    /// The end of the chart: Redis time, in milliseconds since 1970.
    let now: Int
    /// Formats a value.
    let text: (Double) -> String

    var html: HTML {
        let highest = lines.flatMap(\.points).map(\.value).max() ?? 0
        let latest = lines.map { "\($0.name) \(text($0.points.last?.value ?? 0))" }.joined(separator: ", ")
        let label = "\(title) of the last hour: at most \(text(highest)); now \(latest)"
        return .element(
            "figure", ["class": "chart"],
            .element("figcaption", [:], .element("b", [:], title), .text(" " + latest)),
            .element(
                "svg", ["viewBox": "0 0 \(Self.width) \(Self.height)", "role": "img", "aria-label": label],
                [grid(highest)] + lines.enumerated().map { line($1, $0, highest) }),
            .element("p", ["class": "axis"], .element("span", [:], "1 hour ago"), .element("span", [:], "now")))
    }

    private func grid(_ highest: Double) -> HTML {
        .joined([
            .element(
                "line",
                ["class": "grid-line", "x1": "0", "x2": "\(Self.width)", "y1": "20", "y2": "20"]),
            .element(
                "line",
                [
                    "class": "grid-line", "x1": "0", "x2": "\(Self.width)", "y1": "\(Self.height - 1)",
                    "y2": "\(Self.height - 1)",
                ]),
            .element("text", ["x": "2", "y": "15"], text(highest)),
        ])
    }

    private func line(_ line: Line, _ number: Int, _ highest: Double) -> HTML {
        let points = line.points.filter { $0.time > now - Self.span }.map { time, value in
            let x = Double(time - now + Self.span) / Double(Self.span) * Double(Self.width)
            let room = Double(Self.height - 21)
            let y = Double(Self.height - 1) - (highest > 0 ? value / highest * room : 0)
            return "\(Self.rounded(x)),\(Self.rounded(y))"
        }
        return .element("polyline", ["class": "line-\(number)", "points": points.joined(separator: " ")])
    }

    private static func rounded(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

extension Chart {
    /// The charts of the cluster.
    static func ofCluster(_ samples: [HistorySample], now: Int) -> [Chart] {
        func rate(_ value: (ClusterTotals) -> Int) -> [(time: Int, value: Double)] {
            zip(samples, samples.dropFirst()).map { earlier, later in
                let seconds = Double(max(1, later.time - earlier.time)) / 1000
                // Totals that were damaged start again.
                return (later.time, Double(max(0, value(later.totals) - value(earlier.totals))) / seconds)
            }
        }
        return [
            Chart(
                title: "Photos per second",
                lines: [Line(name: "done", points: rate(\.done)), Line(name: "failed", points: rate(\.failed))],
                now: now,
                text: HumanText.rate),
            Chart(
                title: "Bytes per second",
                lines: [
                    Line(name: "downloaded", points: rate(\.bytesIn)), Line(name: "written", points: rate(\.bytesOut)),
                ], now: now, text: { HumanText.bytes(Int($0)) + "/s" }),
            Chart(
                title: "Queued photos",
                lines: [Line(name: "queued", points: samples.map { ($0.time, Double($0.queued)) })],
                now: now, text: { HumanText.count(Int($0)) }),
        ]
    }
}
