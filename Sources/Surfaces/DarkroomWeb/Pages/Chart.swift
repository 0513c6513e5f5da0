import Darkroom
import DarkroomStore

/// A chart of the last hour, as SVG.
struct Chart {
    /// A line of a chart.
    struct Line {
        let name: String
        /// The CSS class that sets the colour of the line.
        let style: StaticString
        /// The values with their times in milliseconds since 1970, in ascending order of time.
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
        let latest = lines.map(latest).joined(separator: ", ")
        let label = "\(title) of the last hour: at most \(text(highest)); now \(latest)"
        return .element(
            "figure", ["class": "chart"],
            .element("figcaption", [:], [.element("b", [:], title)] + lines.map(key)),
            .element("p", ["class": "axis"], .element("span", [:], text(highest))),
            // The chart fills its place: its height is independent of its width, and all lines have the same thickness.
            .element(
                "svg",
                [
                    "viewBox": "0 0 \(Self.width) \(Self.height)", "preserveAspectRatio": "none", "role": "img",
                    "aria-label": label,
                ], [gridLine(1), gridLine(Self.height - 1)] + lines.map { line($0, highest) }),
            .element("p", ["class": "axis"], .element("span", [:], "1 hour ago"), .element("span", [:], "now")))
    }

    /// The colour, the name and the latest value of a line.
    private func key(_ line: Line) -> HTML {
        .element("span", ["class": "key \(line.style)"], .element("span", [:], latest(line)))
    }

    private func latest(_ line: Line) -> String { "\(line.name) \(text(line.points.last?.value ?? 0))" }

    private func gridLine(_ y: Int) -> HTML {
        .element("line", ["class": "grid-line", "x1": "0", "x2": "\(Self.width)", "y1": "\(y)", "y2": "\(y)"])
    }

    private func line(_ line: Line, _ highest: Double) -> HTML {
        let points = line.points.filter { $0.time > now - Self.span }.map { time, value in
            let x = Double(time - now + Self.span) / Double(Self.span) * Double(Self.width)
            let room = Double(Self.height - 2)
            let y = Double(Self.height - 1) - (highest > 0 ? value / highest * room : 0)
            return "\(Self.rounded(x)),\(Self.rounded(y))"
        }
        return .element("polyline", ["class": "\(line.style)", "points": points.joined(separator: " ")])
    }

    private static func rounded(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}

extension Chart {
    /// The charts of the cluster.
    static func ofCluster(_ samples: [HistorySample], now: Int) -> [Chart] {
        func rate(_ value: (ClusterTotals) -> Int) -> [(time: Int, value: Double)] {
            zip(samples, samples.dropFirst()).map { earlier, later in
                let seconds = Double(max(1, later.time - earlier.time)) / 1000
                // Damaged totals start again at 0.
                return (later.time, Double(max(0, value(later.totals) - value(earlier.totals))) / seconds)
            }
        }
        return [
            Chart(
                title: "Photos per second",
                lines: [
                    Line(name: "done", style: "is-filtered", points: rate(\.done)),
                    Line(name: "failed", style: "is-failed", points: rate(\.failed)),
                ], now: now, text: HumanText.rate),
            Chart(
                title: "Bytes per second",
                lines: [
                    Line(name: "downloaded", style: "is-downloaded", points: rate(\.bytesIn)),
                    Line(name: "written", style: "is-filtered", points: rate(\.bytesOut)),
                ], now: now, text: { HumanText.bytes(Int($0)) + "/s" }),
            Chart(
                title: "Queued photos",
                lines: [
                    Line(name: "queued", style: "is-progress", points: samples.map { ($0.time, Double($0.queued)) })
                ],
                now: now, text: { HumanText.count(Int($0)) }),
        ]
    }
}
