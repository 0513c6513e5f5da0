import Darkroom
import DarkroomHTTP
import DarkroomStore

/// The page with the list of batches, newest first.
enum BatchListPage {
    static let route = Route(.get, "/") { call in
        let page = try BatchPage(call)
        let content: [HTML] = [
            .element("h1", [:], "Batches"), states(call),
            .element(
                "div", ["data-refresh": "", "id": "batches"],
                Fragments.problems(page.problems.ofCluster), table(page, call.site), older(page, call)),
        ]
        return Page(call.site, title: "Batches", part: .batches, content).response()
    }

    private static func states(_ call: Call) -> HTML {
        let chosen = call.text("state")
        let links = [nil] + ClusterStatus.states.map(Optional.some)
        return .element(
            "nav", ["class": "filter", "aria-label": "Batches by state"],
            links.map { state in
                .element(
                    "a",
                    [
                        "href": call.site.link(query: state.map { [("state", $0.rawValue)] } ?? []),
                        "aria-current": state?.rawValue == chosen ? "true" : nil,
                    ], state?.rawValue ?? "all")
            })
    }

    private static func table(_ page: BatchPage, _ site: Site) -> HTML {
        guard !page.batches.isEmpty else {
            return .element(
                "p", ["class": "empty"], "There is no batch.")
        }
        let rows = page.batches.map { row($0, page.problems.of($0), page.now, site) }
        return Fragments.table(
            "Batches", ["Batch", "State", "Photos", "Progress", "Failures", "Rate", "Left", "Priority", "Submitted"],
            rows)
    }

    private static func row(_ batch: BatchFacts, _ problems: [BatchProblem], _ now: Int, _ site: Site) -> [HTML] {
        let rate = batch.photosPerSecond(now: now)
        let left = batch.secondsLeft(at: rate, problems: problems)
        let name = batch.options.name.isEmpty ? batch.id.description : batch.options.name
        return [
            .joined([
                .element("a", ["href": site.link("batches", batch.id.description)], name),
                .element("small", [:], batch.options.name.isEmpty ? "" : batch.id.description),
            ]),
            .joined([
                Fragments.state(batch, now: now, problems: problems), .element("small", [:], batch.controlsText),
                Fragments.problems(problems),
            ]),
            .text(HumanText.count(batch.photos) + (batch.sealed ? "" : " so far")),
            .joined([
                Fragments.bar(batch.counts, of: batch.photos),
                .element(
                    "small", [:],
                    "\(HumanText.count(batch.counts.filtered)) filtered"
                        + (batch.counts.failed > 0 ? ", \(HumanText.count(batch.counts.failed)) failed" : "")
                        + (batch.counts.cancelled > 0 ? ", \(HumanText.count(batch.counts.cancelled)) cancelled" : "")),
            ]),
            .text(batch.reasonsText), .text(rate.map(HumanText.rate) ?? "-"),
            .text(left.map(HumanText.duration) ?? "-"), .text(batch.controls.priority.rawValue),
            Fragments.time(batch.submitted, now: now),
        ]
    }

    private static func older(_ page: BatchPage, _ call: Call) -> HTML {
        guard let next = page.next else { return .empty }
        let state = call.text("state").map { [(name: "state", value: $0)] } ?? []
        return .element(
            "p", [:],
            .element(
                "a", ["href": call.site.link(query: state + [("after", next.description)]), "rel": "next"],
                "Older batches"))
    }
}
