import Darkroom
import DarkroomHTTP
import DarkroomStore

/// The page about the whole cluster: its figures, suspension and limits.
enum ClusterPage {
    static let routes = [
        Route(.get, "/cluster", answer: page),
        Route(.post, "/cluster/suspend") { call in
            _ = try call.client.control.suspend(nil, call.part())
            return call.site.seeOther(call.site.link("cluster"))
        },
        Route(.post, "/cluster/resume") { call in
            _ = try call.client.control.resume(nil, call.part())
            return call.site.seeOther(call.site.link("cluster"))
        },
        Route(.post, "/cluster/limits") { call in
            try setLimits(call)
            return call.site.seeOther(call.site.link("cluster"))
        },
    ]

    @Sendable private static func page(_ call: Call) throws -> HTTPResponse {
        let status = try ClusterStatus(call.client)
        let charts = Chart.ofCluster(try call.client.store.history(), now: status.now)
        return Page(
            call.site, title: "Cluster", part: .cluster,
            [
                .element("h1", [:], "Cluster"),
                .element(
                    "div", ["data-refresh": "", "id": "cluster"],
                    Fragments.problems(status.problems.ofCluster, actions: call.site), Fragments.facts(status.sheet),
                    .element("div", ["class": "charts"], charts.map(\.html))),
                call.site.configuration.isReadOnly ? .empty : controls(status, call.site),
            ]
        ).response()
    }

    /// Sets the limits of a form. An empty field removes its limit.
    private static func setLimits(_ call: Call) throws {
        let fields = try call.fields("downloads", "filtrations")
        let (downloads, filtrations) = (try fields.number("downloads"), try fields.number("filtrations"))
        let current = try call.client.control.limits()
        // The script can only remove both limits together.
        if (downloads == nil && current.downloads != nil) || (filtrations == nil && current.filtrations != nil) {
            try call.client.control.clearLimits()
        }
        if downloads != nil || filtrations != nil {
            try call.client.control.setLimits(downloads: downloads, filtrations: filtrations)
        }
    }

    private static func controls(_ status: ClusterStatus, _ site: Site) -> HTML {
        let parts = QueuePart.allCases.map { ($0.rawValue, $0.rawValue) }
        func form(_ action: String, _ text: String, _ label: String) -> HTML {
            .element(
                "form", ["method": "post", "action": site.link("cluster", action)],
                Fragments.select("part", label: label, parts, selected: nil), .element("button", [:], text))
        }
        func limit(_ name: String, _ value: Int?, _ range: ClosedRange<Int>) -> HTML {
            .element(
                "label", [:], .text("\(name) "),
                .void(
                    "input",
                    [
                        "type": "number", "name": name, "min": "\(range.lowerBound)", "max": "\(range.upperBound)",
                        "value": value.map(String.init), "placeholder": "no limit",
                    ]))
        }
        return .element(
            "section", ["aria-label": "Controls of the cluster"],
            .element("h2", [:], "Suspend or resume all workers"),
            .element(
                "div", ["class": "controls"], form("suspend", "Suspend", "Suspend"), form("resume", "Resume", "Resume")),
            .element("h2", [:], "Limits of each worker"),
            .element(
                "form", ["method": "post", "action": site.link("cluster", "limits"), "class": "controls"],
                limit("downloads", status.controls.downloads, ClusterControls.downloadLimits),
                limit("filtrations", status.controls.filtrations, ClusterControls.filtrationLimits),
                .element("button", [:], "Set the limits")),
            .element("p", ["class": "hint"], "An empty field removes the limit."))
    }
}
