import Darkroom
import DarkroomCoordinator
import DarkroomHTTP
import DarkroomStore

/// The routes that list the photos of a batch.
enum PhotoRoutes {
    static let all: [Route] = [
        Route(.get, "\(BatchRoutes.path)/{batch}/photos", query: PhotoPage.query) { call in
            let page = try PhotoPage(call, of: call.soundBatch())
            return HTTPResponse([
                "photos": .array(page.photos.map { JSON($0) }), "next": JSON(page.next), "warning": JSON(page.warning),
            ])
        },
        Route(.get, "\(BatchRoutes.path)/{batch}/photos/{index}") { call in
            let batch = try call.soundBatch()
            let (photo, line) = try call.site.photo(call.photo(of: batch), of: batch)
            let facts = PhotoSheet(photo, line).sheet.lines.map { line -> JSON in
                ["name": .string(line.name), "value": .string(line.value)]
            }
            return HTTPResponse(
                JSON(photo).adding(["manifest": line.map { JSON($0) } ?? .null, "facts": .array(facts)]))
        },
    ]
}

/// A part of the photos of a batch: those at or after an index that have one of the wanted states, reasons and names.
struct PhotoPage {
    /// The largest number of photos on a page.
    static let mostPhotos = 1000

    private(set) var photos: [PhotoListing.Photo] = []
    /// The index at which the next page begins; nil if this is the last page.
    private(set) var next: Int?
    /// Why names are missing; nil if no name is missing.
    private(set) var warning: String?

    /// The time limit of a search through many photos. If the search exceeds the limit, the page has fewer photos.
    private static let longestSearch = Duration.seconds(1)
    /// A search checks its time limit at least once in this number of photos, even without results.
    private static let photosBetweenLooks = 200_000

    static let query: [QueryParameter] = ["first", "limit"] + PhotoFilterQuery.query

    private struct IsFull: Error {}

    /// Reads the page that the query of a request names: `?first=0&limit=100&state=failed&reason=timeout&name=text`.
    /// - Parameter limit: the number of photos if the query names none.
    init(_ call: Call, of batch: BatchFacts, limit: Int = 100) throws {
        let filter = try PhotoFilterQuery(call)
        let first = try call.number("first", in: 0...Int(Int32.max), default: 0)
        let limit = try call.number("limit", in: 1...Self.mostPhotos, default: limit)
        var listing = PhotoListing(batch, in: call.client, manifest: call.site.manifest(of: batch)) {
            filter.accepts($0)
        }
        let began = ContinuousClock.now
        do {
            let end = filter.isEverything ? min(first + limit, batch.photos) : batch.photos
            if filter.isEverything, end < batch.photos { next = end }
            for start in stride(from: first, to: end, by: Self.photosBetweenLooks) {
                func look(at index: Int) throws {
                    guard photos.count < limit, .now - began < Self.longestSearch else {
                        next = index
                        throw IsFull()
                    }
                }
                try look(at: start)
                try listing.forEach(in: start..<min(start + Self.photosBetweenLooks, end)) { photo in
                    try look(at: photo.index)
                    if filter.accepts(name: photo.name ?? "") { photos.append(photo) }
                }
            }
        } catch is IsFull {}
        warning = listing.whyNamesAreMissing
    }
}

/// The photos that a query asks for.
struct PhotoFilterQuery {
    /// Words for states; empty for all states.
    let states: [String]
    /// Words for reasons; empty for all reasons.
    let reasons: [String]
    /// A part of the name; empty for all names.
    let name: String

    static let words = ["new", "downloaded", "filtered", "failed", "cancelled"]

    static let query: [QueryParameter] = [.repeatable("state"), .repeatable("reason"), "name"]

    init(_ call: Call) throws(Problem) {
        func values(_ name: String) -> [String] {
            call.request.target.query.filter { $0.name == name && !$0.value.isEmpty }.map(\.value)
        }
        states = values("state")
        reasons = values("reason")
        name = call.text("name")?.lowercased() ?? ""
        if let other = states.first(where: { !Self.words.contains($0) }) {
            throw .invalidParameter("state", "is \"\(other)\"; it can be " + Self.words.joined(separator: ", "))
        }
        if let other = reasons.first(where: { FailureReason(word: $0) == nil }) {
            throw .invalidParameter("reason", "is \"\(other)\"; \(FailureReason.possible)")
        }
    }

    var isEverything: Bool { states.isEmpty && reasons.isEmpty && name.isEmpty }

    func accepts(_ state: PhotoState) -> Bool {
        guard reasons.isEmpty else {
            if case .failed(let reason) = state { return reasons.contains(reason.word) }
            return false
        }
        return states.isEmpty || states.contains(state.word)
    }

    func accepts(name other: String) -> Bool { name.isEmpty || other.lowercased().contains(name) }
}

extension JSON {
    init(_ line: ManifestLine) {
        func file(_ file: ManifestLine.File) -> JSON {
            [
                "rendition": .string(file.rendition), "filters": .string(file.filters), "file": JSON(file.file),
                "width": JSON(file.width), "height": JSON(file.height), "bytes": JSON(file.bytes),
                "sha256": JSON(file.sha256),
            ]
        }
        self = [
            "state": .string(line.state), "filters": JSON(line.filters),
            "renditions": line.renditions.map { .array($0.map(file)) } ?? .null, "file": JSON(line.file),
            "original": JSON(line.original),
            "reason": JSON(line.reason), "detail": JSON(line.detail), "note": JSON(line.note),
            "attempts": JSON(line.attempts),
            "width": JSON(line.width), "height": JSON(line.height), "bytes": JSON(line.bytes),
            "sha256": JSON(line.sha256), "downloadMilliseconds": JSON(line.downloadMilliseconds),
            "filterMilliseconds": JSON(line.filterMilliseconds), "writeMilliseconds": JSON(line.writeMilliseconds),
        ]
    }
}
