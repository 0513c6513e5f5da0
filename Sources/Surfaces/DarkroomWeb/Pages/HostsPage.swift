import Darkroom
import DarkroomHTTP
import DarkroomStore

/// The page with the hosts of the photos in running workers: of all batches, or with `?batch=ID` of one batch. The
/// hosts for which most photos wait are first.
enum HostsPage {
    static let route = Route(.get, "/hosts") { call in
        let store = call.client.store
        let batch = try call.text("batch").map { try store.batch(named: $0) }
        let list = HostList(try store.workers(), now: try store.time(), of: batch?.id)
        let title = batch.map { "Hosts of \($0.label)" } ?? "Hosts"
        return Page(
            call.site, title: title, part: .hosts,
            [
                .element("h1", [:], title),
                batch == nil
                    ? .empty : .element("p", [:], .element("a", ["href": call.site.link("hosts")], "All hosts")),
                .element("div", ["data-refresh": "", "id": "hosts"], content(list)),
            ]
        ).response()
    }

    private static func content(_ list: HostList) -> HTML {
        guard !list.isEmpty else {
            return .element(
                "p", ["class": "empty"], "No running worker has downloaded photos from a server, or waits for a server."
            )
        }
        let others = list.others == HostFacts.Counts() ? [] : [row(ofOthers: list.others)]
        return Fragments.table(
            "Hosts",
            [
                "Host", "State", "Photos waiting", "Requests", "Rate", "First byte", "Downloaded", "Failed",
                "What to do",
            ], list.hosts.map(row) + others)
    }

    private static func row(_ host: HostFacts) -> [HTML] {
        let counts = host.counts
        let kind =
            switch host.state {
            case .up: "executing"
            case .unknown, .paused: "waiting"
            case .slow, .down: "damaged"
            }
        func time(_ milliseconds: Int?) -> String {
            milliseconds.map { HumanText.duration(Double($0) / 1000) } ?? "-"
        }
        return [
            .text(host.host), .element("span", ["class": "state state-\(kind)"], host.stateText),
            .text(HumanText.count(counts.waiting)), .text("\(host.running) of \(host.allowed)"),
            .text(host.rate.map { "at most " + HumanText.rate($0) } ?? "-"),
            .joined([
                .text(time(host.medianMilliseconds)), .element("small", [:], "p95 \(time(host.mostMilliseconds))"),
            ]), .text(HumanText.count(counts.downloaded)), failures(counts),
            .text(RemedyWording.neutral.text(host.remedies)),
        ]
    }

    private static func row(ofOthers counts: HostFacts.Counts) -> [HTML] {
        [
            .text("other hosts"), .empty, .text(HumanText.count(counts.waiting)), .empty, .empty, .empty,
            .text(HumanText.count(counts.downloaded)), failures(counts), .empty,
        ]
    }

    private static func failures(_ counts: HostFacts.Counts) -> HTML {
        .joined([.text(HumanText.count(counts.failed)), .element("small", [:], counts.reasonsText)])
    }
}
