import Darkroom
import DarkroomHTTP
import DarkroomRecipes

/// The page with the form to submit a list.
enum SubmitPage {
    static let routes = [
        Route(.get, "/submit") { call in try page(call.site) },
        Route(.post, "/submit", body: .upload) { call in
            var fields: FormFields?
            do {
                let sent = try FormFields(call.request)
                fields = sent
                let batch = try call.submitted(sent)
                return call.site.seeOther(call.site.link("batches", batch.id.description))
            } catch {
                let problem = Problem(error, "submit the list")
                throw FormFailure(problem: problem, page: try page(call.site, fields, problem))
            }
        },
    ]

    /// - Parameters:
    ///   - entered: the fields with which the form begins.
    ///   - problem: why the form was refused.
    private static func page(
        _ site: Site, _ entered: FormFields? = nil, _ problem: Problem? = nil
    ) throws(Problem) -> HTTPResponse {
        guard let submission = site.configuration.submission else { throw .noSubmission }
        return Page(
            site, title: "Submit", part: .submit,
            [.element("h1", [:], "Submit a list"), problem?.html ?? .empty, form(site, submission, entered)]
        ).response(status: problem?.status ?? 200)
    }

    private static func form(_ site: Site, _ submission: ListFeeds, _ entered: FormFields?) -> HTML {
        let priorities = BatchPriority.allCases.map { ($0.rawValue, $0.rawValue) }
        let formats = [("", "as the photo")] + ImageFormat.allCases.map { ($0.rawValue, $0.rawValue) }
        func value(_ name: String) -> String? { entered?.all(name).first { !$0.isEmpty } }
        func field(
            _ name: String, _ label: String, type: String = "text", _ attributes: HTML.Attributes = [:]
        ) -> HTML {
            .element(
                "label", [:], .text(label + " "),
                .void(
                    "input",
                    ["type": type, "name": name, "value": type == "file" ? nil : value(name), "autocomplete": "off"]
                        + attributes))
        }
        return .element(
            "form",
            ["method": "post", "action": site.link("submit"), "enctype": "multipart/form-data", "class": "submit"],
            .element(
                "fieldset", [:], .element("legend", [:], "List (a file or an address is required)"),
                field(
                    "list", "A file: property list, CSV, TSV, JSON, JSONL or one URL per line", type: "file",
                    ["id": "file"]),
                entered?.list == nil ? .empty : .element("p", ["class": "hint"], "Choose the file again."),
                field("list", "Or its address", type: "url", ["id": "address", "placeholder": "https://"])),
            .element(
                "fieldset", [:], .element("legend", [:], "Batch"),
                field("output", "Output folder, below \(submission.outputs) (required)", ["required": ""]),
                field("name", "Name"),
                Fragments.select(
                    "priority", label: "Priority", priorities,
                    selected: value("priority") ?? BatchPriority.normal.rawValue)),
            .element(
                "fieldset", [:], .element("legend", [:], "Photos"),
                field(
                    "filter", "Filters, such as sepia resize=800x800; empty: no filter, photos stay as they are",
                    ["list": "filters"]),
                .element(
                    "datalist", ["id": "filters"],
                    (Filter.Kind.allCases.map(\.rawValue) + ["none"]).map { HTML.void("option", ["value": $0]) }),
                Fragments.select("format", label: "Format", formats, selected: value("format") ?? ""),
                field("quality", "Quality, 1 to 100", type: "number", ["min": "1", "max": "100"]),
                .element(
                    "label", [:],
                    .void(
                        "input",
                        ["type": "checkbox", "name": "keepTimes", "checked": value("keepTimes") == nil ? nil : ""]),
                    .text(" Give the files the times of the photos"))),
            .element("button", ["class": "primary"], "Submit"))
    }
}
