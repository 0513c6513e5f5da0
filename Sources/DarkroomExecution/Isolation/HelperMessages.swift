import DarkroomImaging
import DarkroomModel

/// A request to a helper to develop the bytes that follow the request.
struct HelperJob: Codable {
    /// The name of the custom operation that runs in place of filters.
    var operation: String?
    var filters: [String]
    var format: String?
    var quality: Int
    var strip: Bool
    var maxPixels: Int
    /// The photo's record, sent only for custom operations. Filters do not need URLs, which may contain secrets.
    var index = 0
    var name = ""
    var url = ""
    /// The CPU time limit for a photo of up to 20 million pixels.
    var seconds: Int
    /// The largest number of bytes that a custom operation may return.
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

    /// The options for developing the photo with filters.
    /// - Throws: `FilterSyntaxError` if the helper has another version than the worker and does not know a filter.
    func developOptions() throws -> DevelopOptions {
        DevelopOptions(
            filters: try filters.map { try Filter(parsing: $0) }, format: format.flatMap(ImageFormat.init(rawValue:)),
            quality: quality, strip: strip, maxPixels: maxPixels, processorTime: .seconds(seconds))
    }
}

/// The first message of a helper, sent when the helper is confined.
struct HelperGreeting: Codable {
    /// Which layer of the confinement failed although the kernel supports it, and why. The process then ends.
    var problem: String?
    /// Whether another start may succeed, for example after a lack of memory.
    var mayPass = true
}

/// The answer of a helper. The bytes of the file follow it.
struct HelperAnswer: Codable {
    /// The longest ``detail``, in Unicode scalars.
    static let maxDetail = 1000

    /// The number of pixels of the current photo. It is sent in a separate message before the answer. A helper may send
    /// several such messages for a photo, each with a larger number.
    var pixels: Int?
    /// The format of the image that filters have produced.
    var format: String?
    var width: Int?
    var height: Int?
    /// Why the photo failed: the word of a ``FailureReason``.
    var reason: String?
    var detail: String?

    /// The valid widths and heights in pixels.
    private static let sides = 1...Int(Int32.max)

    /// The format, width and height of the image; nil if a value is missing or out of bounds.
    var picture: (format: ImageFormat, width: Int, height: Int)? {
        guard let format = format.flatMap(ImageFormat.init(rawValue:)), let width, let height,
            Self.sides.contains(width), Self.sides.contains(height)
        else { return nil }
        return (format, width, height)
    }

    /// Truncates the text of an error to ``maxDetail``.
    static func cut(_ detail: String) -> String {
        String(String.UnicodeScalarView(detail.unicodeScalars.prefix(maxDetail)))
    }
}
