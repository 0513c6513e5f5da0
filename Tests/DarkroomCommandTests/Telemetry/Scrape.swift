import DarkroomTestSupport
import Foundation
import Testing

/// The metrics of one answer to `/metrics`.
struct Scrape {
    let text: String
    /// The values of all samples by name and labels, as they are written: `photos_total{result="failed"}`.
    let values: [String: Double]
    /// The type of each metric.
    let types: [String: String]

    /// - Parameter token: the token of `darkroom serve`; nil for a worker.
    init(port: Int, token: String? = nil) throws {
        let answer = HTTPGet("/metrics", port: port, token: token)
        try #require(answer.status == 200, "\(answer.head)")
        text = answer.body
        var (values, types): ([String: Double], [String: String]) = ([:], [:])
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# TYPE ") { types[String(words[2])] = String(words[3]) }
            guard !line.hasPrefix("#") else { continue }
            let end = try #require(line.lastIndex(of: " "))
            let value: Double = try #require(Double(line[end...].dropFirst()), "\(line)")
            values[String(line[..<end])] = value
        }
        (self.values, self.types) = (values, types)
    }

    subscript(sample: String) -> Double? { values[sample] }

    /// Scrapes until the values satisfy `isMet`.
    static func wait(port: Int, for what: String, until isMet: (Scrape) -> Bool) throws -> Scrape {
        var scrape = try Scrape(port: port)
        try waitUntil("\(what); the metrics are: \(scrape.text)") {
            scrape = try Scrape(port: port)
            return isMet(scrape)
        }
        return scrape
    }
}

extension Program {
    /// The port at which a worker serves its metrics.
    func metricsPort() throws -> Int {
        try waitFor("metrics are served url=")
        let printed = try String(contentsOf: folder.appendingPathComponent("err"), encoding: .utf8)
        let match = try #require(printed.firstMatch(of: /metrics are served url=http:\/\/127\.0\.0\.1:(\d+)\/metrics/))
        return try #require(Int(match.1))
    }
}
