import Darkroom
import DarkroomStore
import Foundation

/// Pieces of HTML that several pages use.
enum Fragments {
    /// A bar with the share of the photos in each state. The numbers beside the bar repeat this information as text.
    static func bar(_ counts: PhotoCounts, of photos: Int) -> HTML {
        let parts: [(name: String, count: Int)] = [
            ("filtered", counts.filtered), ("failed", counts.failed), ("cancelled", counts.cancelled),
            ("downloaded", counts.downloaded),
        ]
        var start = 0
        let pieces = parts.map { name, count in
            let (from, to) = (position(start, photos), position(start + count, photos))
            start += count
            return HTML.element(
                "rect",
                ["class": "is-\(name)", "x": "\(from)", "width": "\(to - from)", "height": "10", "data-bar": name])
        }
        return .element(
            "svg",
            ["class": "bar", "viewBox": "0 0 1000 10", "preserveAspectRatio": "none", "aria-hidden": "true"], pieces)
    }

    private static func position(_ count: Int, _ photos: Int) -> Int {
        photos == 0 ? 0 : min(1000, Int(Double(count) / Double(photos) * 1000))
    }

    static func state(_ batch: BatchFacts, now: Int, problems: [BatchProblem]) -> HTML {
        let state = batch.shownState(now: now, problems: problems)
        let kind = !batch.damage.isEmpty ? "damaged" : batch.cancelled ? "cancelled" : state.rawValue
        return .element(
            "span", ["class": "state state-\(kind)", "data-fact": "state"],
            batch.stateText(now: now, problems: problems))
    }

    /// The problems of a batch or of all batches, with their remedies.
    /// - Parameter site: the site whose pages can carry out remedies; nil if only the text is shown.
    static func problems(_ problems: [BatchProblem], actions site: Site? = nil) -> HTML {
        guard !problems.isEmpty else { return .empty }
        let site = site?.configuration.isReadOnly == true ? nil : site
        return .element(
            "ul", ["class": "problems"],
            problems.map { problem in
                let actions = site.map { site in problem.remedies.compactMap { $0.action?.html(site) } } ?? []
                return .element("li", [:], [.text(problem.sentence())] + actions)
            })
    }

    /// A Redis time in milliseconds, and how long ago it was.
    static func time(_ milliseconds: Int?, now: Int) -> HTML {
        guard let milliseconds, milliseconds > 0 else { return .text("-") }
        let ago = HumanText.duration(Double(max(0, now - milliseconds)) / 1000)
        return .element(
            "time", ["datetime": Date(timeIntervalSince1970: Double(milliseconds) / 1000).formatted(.iso8601)],
            "\(HumanText.localTime(milliseconds)) (\(ago) ago)")
    }

    /// A table. Screen readers read its caption, which is not shown.
    static func table(_ caption: String, _ columns: [String], _ rows: [[HTML]], _ attributes: HTML.Attributes = [:])
        -> HTML
    {
        .element(
            "div", ["class": "wide", "tabindex": "0", "role": "region", "aria-label": caption],
            .element(
                "table", attributes, .element("caption", [:], caption),
                .element(
                    "thead", [:], .element("tr", [:], columns.map { .element("th", ["scope": "col"], $0) })),
                .element(
                    "tbody", [:], rows.map { row in .element("tr", [:], row.map { .element("td", [:], $0) }) })))
    }

    /// Facts as names and values.
    static func facts(_ sheet: FactSheet) -> HTML {
        .element(
            "dl", ["class": "facts"],
            sheet.lines.flatMap { line in
                [.element("dt", [:], line.name), .element("dd", [:], line.value)] as [HTML]
            })
    }

    /// A form with one button.
    /// - Parameters:
    ///   - api: the address of the same call of the HTTP API, which scripts use.
    static func button(
        _ text: String, _ action: String, api: String? = nil, method: String = "POST",
        fields: [(name: String, value: String)] = [], shownFor: String? = nil, isHidden: Bool = false
    ) -> HTML {
        .element(
            "form",
            [
                "method": "post", "action": action, "data-api": api, "data-method": api == nil ? nil : method,
                "data-shown-for": shownFor, "hidden": isHidden ? "" : nil,
            ],
            fields.map { .void("input", ["type": "hidden", "name": $0.name, "value": $0.value]) }
                + [.element("button", [:], text)])
    }

    /// A choice among words.
    static func select(
        _ name: String, label: String, _ options: [(value: String, text: String)], selected: String?
    ) -> HTML {
        .element(
            "label", [:], .text(label + " "),
            .element(
                "select", ["name": name],
                options.map { value, text in
                    .element("option", ["value": value, "selected": value == selected ? "" : nil], text)
                }))
    }

    /// A number that scripts keep current.
    static func count(_ fact: String, _ number: Int, _ word: String) -> HTML {
        .element(
            "span", ["class": "count is-\(fact)"],
            .element("b", ["data-count": fact], HumanText.count(number)), .text(" " + word))
    }
}
