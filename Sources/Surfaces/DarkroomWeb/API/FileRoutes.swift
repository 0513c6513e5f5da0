import Darkroom
import DarkroomFiles
import DarkroomHTTP
import DarkroomImaging
import DarkroomRecipes

/// The routes that send photos and thumbnails.
enum FileRoutes {
    private static let photo = "\(BatchRoutes.path)/{batch}/photos/{index}"

    static let all: [Route] = [
        Route(.get, "\(photo)/thumbnail", query: ["rendition"] + ofThumbnail, pool: .thumbnails) {
            try thumbnail($0, of: $0.file())
        },
        Route(.get, "\(photo)/file", query: ["rendition", "download"]) { try file($0, $0.file()) },
        Route(.get, "\(photo)/original", query: ["download"]) { try file($0, $0.original()) },
        Route(.get, "\(photo)/original/thumbnail", query: ofThumbnail, pool: .thumbnails) {
            try thumbnail($0, of: $0.original())
        },
    ]

    /// `v` has no effect: pages change it so that the browser asks for the thumbnail again.
    private static let ofThumbnail: [QueryParameter] = ["width", "v"]

    /// `?width=256`: a JPEG whose sides have at most this number of pixels.
    private static func thumbnail(
        _ call: Call, of photo: OpenPhoto, _ turn: ThumbnailMaker.Turn = .together
    ) throws -> HTTPResponse {
        let width = try call.number("width", in: 1...2048, default: 256)
        let allowed = ThumbnailMaker.widths.first { $0 >= width } ?? 2048
        let version = photo.version
        do {
            return try call.cached(ThumbnailMaker.key(version, width: allowed)) {
                HTTPResponse(
                    headers: [("Content-Type", "image/jpeg")],
                    body: .bytes(
                        try call.site.thumbnails.thumbnail(of: photo, width: allowed, version: version, turn)))
            }
        } catch is ThumbnailMaker.NeedsMuchMemory {
            throw LargeAnswer {
                // Users scroll on while such photos are decoded one after the other.
                if call.clientHasLeft() { throw Problem(503, "busy", "the client has left") }
                return try thumbnail(call, of: photo, .alone)
            }
        }
    }

    private static func file(_ call: Call, _ photo: OpenPhoto) throws -> HTTPResponse {
        try call.cached(photo.version) {
            let start = try photo.start()
            let format = start.withUnsafeBytes { ImageFormat(contentOf: $0) }
            let name = Path.split(photo.path).name
            return HTTPResponse(
                headers: [
                    ("Content-Type", format.map { "image/\($0.rawValue)" } ?? "application/octet-stream"),
                    // A file of a custom filter may be anything, so a browser does not show it.
                    (
                        "Content-Disposition",
                        (format != nil && call.text("download") == nil ? "inline" : "attachment")
                            + "; filename*=UTF-8''\(RequestTarget.encoded(name))"
                    ),
                    ("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'"),
                ], body: .file(photo.body()))
        }
    }
}

extension Call {
    fileprivate func file() throws -> OpenPhoto {
        let batch = try soundBatch()
        return try site.file(of: photo(of: batch), batch, rendition: text("rendition"))
    }

    fileprivate func original() throws -> OpenPhoto {
        let batch = try soundBatch()
        return try site.original(of: photo(of: batch), batch)
    }

    /// A response that browsers cache and revalidate with this tag; status 304 if the browser has cached the current
    /// version.
    func cached(_ tag: String, _ make: () throws -> HTTPResponse) throws -> HTTPResponse {
        let tag = "\"\(tag)\""
        let known = request.headers["if-none-match"]?.split(separator: ",").map { $0.drop { $0 == " " } } ?? []
        let isKnown = known.contains { $0 == tag || $0 == "W/" + tag }
        var response = isKnown ? HTTPResponse(status: 304) : try make()
        response.headers += [("ETag", tag), ("Cache-Control", "private, no-cache")]
        return response
    }
}
