import Darkroom
import DarkroomHTTP
import DarkroomRecipes

/// The page with the form to submit a list.
enum SubmitPage {
    static let route = Route(.get, "/submit") { call in
        guard let submission = call.site.configuration.submission else { throw Problem.noSubmission }
        return Page(
            call.site, title: "Submit", part: .submit,
            [.element("h1", [:], "Submit a list"), form(call.site, submission)]
        ).response()
    }

    private static func form(_ site: Site, _ submission: ListSubmission) -> HTML {
        let priorities = BatchPriority.allCases.map { ($0.rawValue, $0.rawValue) }
        let formats = [("", "as the photo")] + ImageFormat.allCases.map { ($0.rawValue, $0.rawValue) }
        return .element(
            "form",
            ["method": "post", "action": site.link("submit"), "enctype": "multipart/form-data", "class": "submit"],
            .element(
                "fieldset", [:], .element("legend", [:], "List"),
                field(
                    "list", "A file: property list, CSV, TSV, JSON, JSONL or one URL per line", type: "file", id: "file"
                ),
                field("list", "Or its address", type: "url", placeholder: "https://", id: "address")),
            .element(
                "fieldset", [:], .element("legend", [:], "Batch"),
                field("output", "Output folder, below \(submission.outputs)", isRequired: true),
                field("name", "Name"),
                Fragments.select("priority", label: "Priority", priorities, selected: BatchPriority.normal.rawValue)),
            .element(
                "fieldset", [:], .element("legend", [:], "Photos"),
                field("filter", "Filters, such as sepia resize=800x800", list: "filters"),
                .element(
                    "datalist", ["id": "filters"],
                    Filter.Kind.allCases.map { HTML.void("option", ["value": $0.rawValue]) }),
                Fragments.select("format", label: "Format", formats, selected: ""),
                field("quality", "Quality, 1 to 100", type: "number")),
            .element("button", ["class": "primary"], "Submit"))
    }

    private static func field(
        _ name: String, _ label: String, type: String = "text", placeholder: String? = nil, isRequired: Bool = false,
        list: String? = nil, id: String? = nil
    ) -> HTML {
        .element(
            "label", [:], .text(label + " "),
            .void(
                "input",
                [
                    "type": type, "name": name, "id": id, "placeholder": placeholder, "list": list,
                    "required": isRequired ? "" : nil, "autocomplete": "off",
                ]))
    }
}
