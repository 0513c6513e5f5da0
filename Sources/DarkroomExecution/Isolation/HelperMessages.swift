import DarkroomImaging
import DarkroomModel

/// What a helper is to make of the bytes that follow.
struct HelperJob: Codable {
    /// The name of the custom operation that runs in place of filters.
    var operation: String?
    var filters: [String]
    var format: String?
    var quality: Int
    var strip: Bool
    var maxPixels: Int
    /// Of the record, for custom operations. Filters do not need it, so the URL and its secrets stay with the worker.
    var index = 0
    var name = ""
    var url = ""
    /// Processor time for a photo of up to 20 million pixels.
    var seconds: Int
    /// The most bytes that a custom operation may answer with.
    var maxBytes: Int

    init(_ record: PhotoRecord, _ recipe: PhotoRecipe, seconds: Int, maxBytes: Int) {
        self.maxBytes = maxBytes
        let develop = recipe.develop
        operation = recipe.custom?.name
        filters = develop.filters.map(\.description)
        format = develop.format?.rawValue
        quality = develop.quality
        strip = develop.strip
        maxPixels = develop.maxPixels
        self.seconds = seconds
        guard operation != nil else { return }
        index = record.index
        name = record.name
        url = record.url
    }

    var record: PhotoRecord { PhotoRecord(index: index, name: name, url: url) }

    /// What the filters are to do.
    /// - Throws: `FilterSyntaxError`, when helper and worker are of different versions.
    func developOptions() throws -> DevelopOptions {
        DevelopOptions(
            filters: try filters.map { try Filter(parsing: $0) }, format: format.flatMap(ImageFormat.init(rawValue:)),
            quality: quality, strip: strip, maxPixels: maxPixels, processorTime: .seconds(seconds))
    }
}

/// What a helper sends once it is confined, before its first photo.
struct HelperGreeting: Codable {
    /// Which layer of the confinement the kernel has and refuses, and why; the process ends then.
    var problem: String?
    /// Whether the next start may succeed: memory was short, say.
    var mayPass = true
}

/// What a helper answers, with the bytes of the file.
struct HelperAnswer: Codable {
    /// The longest ``detail``, in Unicode scalars.
    static let maxDetail = 1000

    /// The number of pixels of the photo at hand, in a message of its own before the answer. A photo may have several, each larger
    /// than the one before.
    var pixels: Int?
    /// The format of what filters made.
    var format: String?
    var width: Int?
    var height: Int?
    /// Why nothing was made: the word of a ``FailureReason``.
    var reason: String?
    var detail: String?

    /// The sides of a picture in pixels.
    private static let sides = 1...Int(Int32.max)

    /// What the answer says of a picture; nil if a part is missing or out of bounds.
    var picture: (format: ImageFormat, width: Int, height: Int)? {
        guard let format = format.flatMap(ImageFormat.init(rawValue:)), let width, let height,
            Self.sides.contains(width), Self.sides.contains(height)
        else { return nil }
        return (format, width, height)
    }

    /// The text of an error as it is sent and kept.
    static func cut(_ detail: String) -> String {
        String(String.UnicodeScalarView(detail.unicodeScalars.prefix(maxDetail)))
    }
}
