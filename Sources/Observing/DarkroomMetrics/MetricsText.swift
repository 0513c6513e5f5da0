/// Writes metrics in the text format of Prometheus, version 0.0.4:
/// https://prometheus.io/docs/instrumenting/exposition_formats/
///
/// A program adds its metrics each time Prometheus requests them, so a gauge can be computed at that time:
///
/// ```swift
/// var text = MetricsText()
/// text.counter("photos_total", "Photos by result.", [.init(12, ["result": "filtered"]), .init(1, ["result": "failed"])])
/// text.gauge("queue_photos", "Photos that wait.", queue.count)
/// ```
package struct MetricsText: Sendable {
    /// The media type of the text.
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// A value of a metric with its labels.
    package struct Sample: Sendable {
        let value: Double
        let labels: KeyValuePairs<String, String>

        package init(_ value: Double, _ labels: KeyValuePairs<String, String> = [:]) {
            self.value = value
            self.labels = labels
        }

        package init(_ value: Int, _ labels: KeyValuePairs<String, String> = [:]) { self.init(Double(value), labels) }
    }

    /// The text so far, in UTF-8.
    package private(set) var bytes: [UInt8] = []

    package init() {}

    // MARK: - Metrics

    /// Adds a counter: a value that only grows. Its name ends in `_total`.
    package mutating func counter(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, "counter", help, samples)
    }

    package mutating func counter(_ name: String, _ help: String, _ value: Int) {
        counter(name, help, [Sample(value)])
    }

    package mutating func counter(_ name: String, _ help: String, _ value: Double) {
        counter(name, help, [Sample(value)])
    }

    /// Adds a gauge: a value that can grow and shrink.
    package mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) {
        add(name, "gauge", help, samples)
    }

    package mutating func gauge(_ name: String, _ help: String, _ value: Int) { gauge(name, help, [Sample(value)]) }

    package mutating func gauge(_ name: String, _ help: String, _ value: Double) { gauge(name, help, [Sample(value)]) }

    package mutating func histogram(_ name: String, _ help: String, _ histogram: Histogram) {
        head(name, "histogram", help)
        var count = 0
        for (bound, observations) in zip(histogram.bounds + [.infinity], histogram.counts) {
            count += observations
            sample(name + "_bucket", Sample(count, ["le": Self.text(of: bound)]))
        }
        sample(name + "_sum", Sample(histogram.sum))
        sample(name + "_count", Sample(count))
    }

    // MARK: - Lines

    private mutating func add(_ name: String, _ type: String, _ help: String, _ samples: [Sample]) {
        head(name, type, help)
        for one in samples { sample(name, one) }
    }

    private mutating func head(_ name: String, _ type: String, _ help: String) {
        append("# HELP \(name) ")
        appendEscaped(help, quotes: false)
        append("\n# TYPE \(name) \(type)\n")
    }

    private mutating func sample(_ name: String, _ sample: Sample) {
        append(name)
        for (position, label) in sample.labels.enumerated() {
            append(position == 0 ? "{" : ",")
            append("\(label.key)=\"")
            appendEscaped(label.value, quotes: true)
            append("\"")
        }
        append(sample.labels.isEmpty ? " " : "} ")
        append(Self.text(of: sample.value))
        append("\n")
    }

    private mutating func append(_ text: String) { bytes += text.utf8 }

    /// Appends text, and escapes its backslashes and line feeds. If `quotes` is true, as for the value of a label, also
    /// escapes quotation marks.
    private mutating func appendEscaped(_ text: String, quotes: Bool) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): append("\\\\")
            case UInt8(ascii: "\n"): append("\\n")
            case UInt8(ascii: "\"") where quotes: append("\\\"")
            default: bytes.append(byte)
            }
        }
    }

    /// A number as Go's `ParseFloat` reads it.
    static func text(of value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        // Up to 2^53, a Double contains each integer.
        if value.magnitude < 0x1p53, value == value.rounded() { return String(Int(value)) }
        return "\(value)"
    }
}
