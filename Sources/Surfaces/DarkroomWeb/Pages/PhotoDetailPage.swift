import Darkroom
import DarkroomHTTP
import DarkroomStore

/// The page of one photo.
enum PhotoDetailPage {
    /// The texts of the buttons, also in the large view of the contact sheet.
    static let previous = "Previous", next = "Next", download = "Download"

    static let route = Route(.get, "/batches/{batch}/photos/{index}") { call in
        let batch = try call.soundBatch()
        let index = try call.photo(of: batch)
        let (photo, line) = try call.site.photo(index, of: batch)
        let site = call.site, id = batch.id.description
        func file(_ name: String, query: [(name: String, value: String)] = []) -> String {
            site.link("api", "v1", "batches", id, "photos", "\(index)", name, query: query)
        }
        func neighbour(_ other: Int, _ text: String, _ relation: String) -> HTML {
            guard (0..<batch.photos).contains(other) else { return .empty }
            return .element(
                "a", ["class": "button", "href": site.link("batches", id, "photos", "\(other)"), "rel": relation], text)
        }
        let showsFile = photo.state == .filtered && line != nil
        return Page(
            site, title: "Photo \(index)", part: .batches,
            [
                .element(
                    "p", [:],
                    .element("a", ["href": site.link("batches", id, query: [("first", "\(index)")])], batch.label)),
                .element("h1", [:], photo.name ?? "Photo \(index)"),
                .element(
                    "p", ["class": "controls"], neighbour(index - 1, previous, "prev"),
                    neighbour(index + 1, next, "next"),
                    showsFile
                        ? .element(
                            "a", ["class": "button", "href": file("file", query: [("download", "1")])], download)
                        : .empty),
                showsFile
                    ? .element(
                        "figure", [:],
                        .void(
                            "img",
                            [
                                "class": "large", "src": file("thumbnail", query: [("width", "1024")]),
                                "alt": photo.name ?? "",
                            ]))
                    : .empty, Fragments.facts(PhotoSheet(photo, line).sheet),
            ]
        ).response()
    }
}

/// The facts of a photo for users.
struct PhotoSheet {
    let sheet: FactSheet

    init(_ photo: PhotoListing.Photo, _ line: ManifestLine?) {
        var sheet = FactSheet()
        sheet.add("index", "\(photo.index)")
        sheet.add("state", photo.state.word)
        if let reason = photo.reason { sheet.add("reason", reason) }
        if let detail = photo.detail { sheet.add("detail", detail) }
        if let name = photo.name { sheet.add("name", name) }
        if let url = photo.url { sheet.add("URL", url) }
        for file in photo.files { sheet.add("file", file) }
        if let line {
            if let note = line.note { sheet.add("note", note) }
            if let filters = line.filters, !filters.isEmpty { sheet.add("filters", filters) }
            if let width = line.width, let height = line.height { sheet.add("size", "\(width) x \(height)") }
            if let bytes = line.bytes { sheet.add("bytes", HumanText.bytes(bytes)) }
            if let attempts = line.attempts { sheet.add("attempts", "\(attempts)") }
            for (name, milliseconds) in [
                ("download", line.downloadMilliseconds), ("filters", line.filterMilliseconds),
                ("write", line.writeMilliseconds),
            ] {
                if let milliseconds { sheet.add("time of \(name)", HumanText.duration(Double(milliseconds) / 1000)) }
            }
            if let digest = line.sha256 { sheet.add("SHA-256", digest) }
        }
        self.sheet = sheet
    }
}
