import DarkroomCoding
import DarkroomHTTP

/// The style sheets, scripts and pictures of the pages, which are part of the program.
struct StaticFile: Sendable {
    let name: String
    let type: String
    let bytes: [UInt8]
    private let shared: SharedBytes

    private init(_ name: String, type: String, _ bytes: [UInt8]) {
        self.name = name
        self.type = type
        self.bytes = bytes
        shared = SharedBytes(bytes)
    }

    static let style = StaticFile("style.css", type: "text/css; charset=utf-8", PackageResources.style_css)
    static let page = StaticFile("page.js", type: javaScript, PackageResources.page_js)
    static let sheet = StaticFile("sheet.js", type: javaScript, PackageResources.sheet_js)
    static let icon = StaticFile("icon.svg", type: "image/svg+xml", PackageResources.icon_svg)

    /// The modules that the scripts import.
    private static let modules = [
        StaticFile("api.js", type: javaScript, PackageResources.api_js),
        StaticFile("cells.js", type: javaScript, PackageResources.cells_js),
        StaticFile("facts.js", type: javaScript, PackageResources.facts_js),
        StaticFile("grid.js", type: javaScript, PackageResources.grid_js),
        StaticFile("layout.js", type: javaScript, PackageResources.layout_js),
        StaticFile("live.js", type: javaScript, PackageResources.live_js),
        StaticFile("names.js", type: javaScript, PackageResources.names_js),
        StaticFile("notices.js", type: javaScript, PackageResources.notices_js),
        StaticFile("photo.js", type: javaScript, PackageResources.photo_js),
        StaticFile("results.js", type: javaScript, PackageResources.results_js),
        StaticFile("states.js", type: javaScript, PackageResources.states_js),
        StaticFile("text.js", type: javaScript, PackageResources.text_js),
        StaticFile("tools.js", type: javaScript, PackageResources.tools_js),
        StaticFile("windows.js", type: javaScript, PackageResources.windows_js),
    ]

    private static let all = [style, page, sheet, icon] + modules
    private static let javaScript = "text/javascript; charset=utf-8"

    /// A digest of all files. The digest is a part of their addresses, so that browsers may keep the files for ever. It
    /// is a component of the path, because scripts import each other by relative addresses: with a query, a script
    /// would run twice, once with the query and once without.
    private static let version = String(Hexadecimal.text(SHA256Digest.hash(of: all.flatMap(\.bytes))).prefix(16))

    static let route = Route(.get, "/static/{version}/{file}", access: .everybody, pool: .none) { call in
        let name = call.parameter("file")
        guard let file = all.first(where: { $0.name == name }) else {
            throw Problem(404, "noSuchPage", "there is no file \"\(name)\"")
        }
        var response = try call.cached(version) {
            HTTPResponse(headers: [("Content-Type", file.type)], body: .shared(file.shared))
        }
        if call.parameter("version") == version {
            response["Cache-Control"] = "public, max-age=31536000, immutable"
        }
        return response
    }

    /// The address of the file, which changes with the program.
    func link(_ site: Site) -> String { site.link("static", Self.version, name) }
}
