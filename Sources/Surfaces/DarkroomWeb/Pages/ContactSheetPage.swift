import Darkroom
import DarkroomHTTP
import DarkroomStore

/// The page of a batch: its facts, its controls and its contact sheet.
///
/// Without scripts, the contact sheet is a table of at most 100 photos. `sheet.js` replaces the table with a grid of all
/// photos.
struct ContactSheetPage {
    static let route = Route(.get, "/batches/{batch}") { try ContactSheetPage($0).response }

    private static let photosOfTable = 100
    private static let emptyFilter = "No photo matches the filter."

    private let call: Call
    private let batch: BatchFacts
    private let now: Int
    private let problems: [BatchProblem]
    private let waiting: String?
    private let waited: String?
    private let photos: PhotoPage?
    /// Whether the files of the photos are in the folders of this server.
    private let showsFiles: Bool
    private let showsOriginals: Bool

    private init(_ call: Call) throws {
        self.call = call
        batch = try call.batch()
        now = try call.client.store.time()
        let finder = try call.client.store.problems(of: [batch], now: now)
        problems = finder.of(batch)
        waiting = finder.hosts(of: batch.id).waitText
        waited = finder.waited(of: batch).text()
        photos = batch.damage.isEmpty ? try PhotoPage(call, of: batch, limit: Self.photosOfTable) : nil
        showsFiles = call.site.results(of: batch) != nil
        showsOriginals = call.site.originals(of: batch) != nil
    }

    private var site: Site { call.site }
    private var id: String { batch.id.description }
    private var name: String { batch.options.name.isEmpty ? id : batch.options.name }
    private var api: String { site.link("api", "v1", "batches", id) }

    private var response: HTTPResponse {
        Page(
            site, title: name, part: .batches, script: .sheet,
            [
                heading, retried, withoutFiles, controls,
                .element(
                    "details", ["class": "more"], .element("summary", [:], "All facts"),
                    .element(
                        "div", ["data-refresh": site.link("batches", id), "id": "all-facts"],
                        Fragments.facts(facts))),
                search, sheet, photos == nil ? .empty : SheetScript.photoView,
            ]
        ).response()
    }

    // MARK: - Facts

    private var facts: FactSheet {
        BatchSheet(batch, now: now, problems: problems, waiting: waiting, waited: waited).sheet
    }

    private var texts: BatchTexts { BatchTexts(batch: batch, now: now, problems: problems) }

    private var heading: HTML {
        let counts = batch.counts
        let numbers: [HTML] = [
            Fragments.count("photos", batch.photos, batch.sealed ? "photos" : "photos so far"),
            Fragments.count("new", counts.new, "new"), Fragments.count("downloaded", counts.downloaded, "downloaded"),
            Fragments.count("filtered", counts.filtered, "filtered"),
            Fragments.count("failed", counts.failed, "failed"),
            Fragments.count("cancelled", counts.cancelled, "cancelled"),
        ]
        return .element(
            "section", ["id": "facts", "aria-label": "State of the batch"],
            .element(
                "h1", [:], .text(name), .text(" "), Fragments.state(batch, now: now, problems: problems),
                .element("small", [:], batch.options.name.isEmpty ? "" : id)),
            Fragments.bar(counts, of: batch.photos),
            .element(
                "p", ["class": "counts"], .joined(numbers), .text(" "),
                .element("span", ["data-fact": "speed"], texts.speed)),
            .element("p", ["data-fact": "failures", "class": "failures"], batch.reasonsText),
            .element(
                "div",
                [
                    "data-fact": "problems", "data-site": site.link(),
                    "data-read-only": site.configuration.isReadOnly ? "" : nil,
                ], Fragments.problems(problems, actions: site)),
            .element(
                "p", [:], .element("a", ["href": site.link("hosts", query: [("batch", id)])], "Hosts of its photos")))
    }

    /// The result of the retry that has led to this page.
    private var retried: HTML {
        guard let photos = call.text("retried").flatMap({ Int($0) }) else { return .empty }
        let notKept = call.text("notKept").flatMap { Int($0) } ?? 0
        let text =
            switch photos {
            case 0: "No photo runs again."
            case 1: "1 failed photo runs again."
            default: "\(HumanText.count(photos, of: "failed photo")) run again."
            }
        let rest =
            " \(HumanText.count(notKept, of: "failed photo")) stayed failed: Redis no longer has their names and URLs; "
            + RemedyWording.neutral.text([.retryWithList(batch.id)])
        return .element("p", ["class": "hint", "role": "status"], text + (notKept > 0 ? rest : ""))
    }

    /// The reason why the page shows only states.
    private var withoutFiles: HTML {
        if showsFiles { return .empty }
        let folder = batch.options.output
        return .element(
            "p", ["class": "hint"],
            "No photos are shown: \(folder) is not in a folder that this server may show.")
    }

    // MARK: - Controls

    private var controls: HTML {
        guard !site.configuration.isReadOnly else { return .empty }
        func action(_ name: String) -> String { site.link("batches", id, name) }
        let isOpen = batch.isOpen, controls = batch.controls
        let priorities = BatchPriority.allCases.map { ($0.rawValue, $0.rawValue) }
        var forms: [HTML] = QueuePart.allCases.flatMap { part -> [HTML] in
            let isSuspended =
                switch part {
                case .everything: controls.isSuspended
                case .downloads: controls.areDownloadsSuspended
                case .filtrations: controls.areFiltrationsSuspended
                }
            let what = part == .everything ? "" : " \(part.rawValue)"
            let fields = [(name: "part", value: part.rawValue)]
            return [
                Fragments.button(
                    "Suspend\(what)", action("suspend"), api: api + "/suspend", fields: fields,
                    shownFor: "open not-suspended-\(part.rawValue)", isHidden: !isOpen || isSuspended),
                Fragments.button(
                    "Resume\(what)", action("resume"), api: api + "/resume", fields: fields,
                    shownFor: "open suspended-\(part.rawValue)", isHidden: !isOpen || !isSuspended),
            ]
        }
        forms.append(
            .element(
                "form",
                [
                    "method": "post", "action": action("priority"), "data-api": api + "/priority",
                    "data-method": "POST",
                    "data-shown-for": "open", "hidden": isOpen ? nil : "",
                ], Fragments.select("priority", label: "Priority", priorities, selected: controls.priority.rawValue),
                .element("button", [:], "Set")))
        forms.append(link("Cancel...", "cancel", shownFor: "open", isHidden: !isOpen))
        forms.append(
            link(
                "Retry failed photos...", "retry", shownFor: "retriable",
                isHidden: batch.counts.failed == 0 || batch.cancelled))
        forms.append(link("Forget...", "forget", shownFor: "", isHidden: false))
        return Self.panel(
            "Controls", .element("section", ["class": "controls", "aria-label": "Controls of the batch"], forms))
    }

    /// A part of the page that scripts close in narrow windows.
    private static func panel(_ title: String, _ content: HTML) -> HTML {
        .element("details", ["class": "panel", "open": ""], .element("summary", [:], title), content)
    }

    /// A link to a page that asks for confirmation before it acts.
    private func link(_ text: String, _ action: String, shownFor: String, isHidden: Bool) -> HTML {
        .element(
            "a",
            [
                "class": "button", "href": site.link("batches", id, action),
                "data-shown-for": shownFor.isEmpty ? nil : shownFor, "hidden": isHidden ? "" : nil,
            ], text)
    }

    // MARK: - Photos

    private var search: HTML {
        let states = [("", "all states")] + PhotoFilterQuery.words.map { ($0, $0) }
        let reasons = [("", "all reasons")] + FailureReason.allCases.map { ($0.word, $0.word) }
        func field(_ name: String, _ label: String, _ attributes: HTML.Attributes) -> HTML {
            .element(
                "label", [:], .text(label + " "),
                .void("input", ["name": name, "value": call.text(name) ?? ""] + attributes))
        }
        let choice = HTML.element(
            "section", ["class": "tools", "aria-label": "Choice of photos"],
            .element(
                "form", ["method": "get", "id": "filter"],
                Fragments.select("state", label: "State", states, selected: call.text("state") ?? ""),
                Fragments.select("reason", label: "Reason", reasons, selected: call.text("reason") ?? ""),
                field("name", "Name contains", ["type": "search"]), .element("button", [:], "Show")),
            .element(
                "form", ["method": "get", "id": "jump"],
                field(
                    "first", "From index",
                    ["type": "number", "required": "", "min": "0", "max": "\(max(0, batch.photos - 1))"]),
                .element("button", [:], "Go")))
        return Self.panel("Choice of photos", choice)
    }

    private var sheet: HTML {
        guard let photos else { return .empty }
        return .element(
            "section",
            [
                "id": "sheet", "aria-label": "Photos", "data-batch": id, "data-api": api,
                "data-streams": site.link("api", "v1", "streams"), "data-page": site.link("batches", id),
                "data-states": SheetScript.states.text, "data-photos": "\(batch.photos)",
                "data-round": "\(batch.round)", "data-first": "\(firstShown)", "data-empty": Self.emptyFilter,
                "data-files": showsFiles ? "" : nil, "data-originals": showsOriginals ? "" : nil,
                "data-read-only": site.configuration.isReadOnly ? "" : nil,
            ], table(photos))
    }

    /// The photo with which the sheet begins: `first`, or the first photo of `operation`.
    private var firstShown: Int {
        if let first = call.text("first").flatMap({ Int($0) }) { return first }
        guard let operation = call.text("operation").flatMap({ Int($0) }),
            (1...batch.operations + 1).contains(operation)
        else { return 0 }
        return (operation - 1) * batch.options.operationSize
    }

    private func table(_ page: PhotoPage) -> HTML {
        let rows = page.photos.map { photo -> [HTML] in
            [
                .element("a", ["href": site.link("batches", id, "photos", "\(photo.index)")], "\(photo.index)"),
                thumbnail(photo), .text(photo.name ?? ""), .text(photo.state.word), .text(photo.reason ?? ""),
                .text(photo.detail ?? ""),
            ]
        }
        var kept = call.request.target.query.filter { ["state", "reason", "name"].contains($0.name) }
            .map { (name: $0.name, value: $0.value) }
        if let next = page.next { kept.append(("first", "\(next)")) }
        let isFiltered = ["state", "reason", "name"].contains { call.text($0) != nil }
        return .element(
            "div", ["id": "photos"],
            page.warning.map { .element("p", ["class": "hint"], "Some names are missing: " + $0) } ?? .empty,
            rows.isEmpty && page.next == nil
                ? .element(
                    "p", ["class": "empty"], isFiltered ? Self.emptyFilter : "There is no photo here.")
                : Fragments.table("Photos", ["Index", "Photo", "Name", "State", "Reason", "Detail"], rows),
            page.next == nil
                ? .empty
                : .element(
                    "p", [:],
                    .element("a", ["href": site.link("batches", id, query: kept), "rel": "next"], "Next photos")))
    }

    private func thumbnail(_ photo: PhotoListing.Photo) -> HTML {
        guard showsFiles, photo.state == .filtered else { return .empty }
        return .void(
            "img",
            [
                "src": site.link(
                    "api", "v1", "batches", id, "photos", "\(photo.index)", "thumbnail",
                    query: [("width", "128"), ("v", "\(batch.round)")]),
                "alt": "", "loading": "lazy", "width": "64", "height": "64",
            ])
    }
}
