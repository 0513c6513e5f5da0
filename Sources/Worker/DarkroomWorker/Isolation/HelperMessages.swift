import DarkroomImaging
import DarkroomModel
import DarkroomRecipes

/// A request to a helper process: develop a photo, or run a custom filter for a photo. After the request, the worker
/// sends the bytes of the photo, then the bytes of each watermark picture.
struct HelperJob: Codable {
    /// The custom filter; nil to develop the photo.
    var customFilter: Custom?
    /// The files to make.
    var outputs: [Output] = []
    /// The pictures of the watermarks. Their files follow the photo.
    var overlays: [Overlay] = []
    var damage = DamageLevel.tolerate
    var keepsAnimation = false
    var maxPixels = 0
    var maxStreamedPixels = 0
    /// The largest number of bytes of all files together.
    var maxBytes: Int
    /// The CPU time limit for a picture of up to 20 million pixels.
    var seconds: Int

    struct Custom: Codable {
        var name: String
        var arguments: String
        /// The photo's record. Only custom filters receive a record, because URLs may contain secrets.
        var index: Int
        var photo: String
        var url: String

        var filter: PhotoFilter.Custom { PhotoFilter.Custom(name: name, arguments: arguments) }
        var record: PhotoRecord { PhotoRecord(index: index, name: photo, url: url) }
    }

    struct Output: Codable {
        var rendition: String
        var filters: String
        var encoding: String
    }

    struct Overlay: Codable {
        /// The watermark filters that use this picture, at least one.
        var filters: [String]
        /// The size of the file in bytes.
        var bytes: Int
    }

    /// A request to run a custom filter.
    init(_ filter: PhotoFilter.Custom, _ record: PhotoRecord, maxPixels: Int, seconds: Int, maxBytes: Int) {
        customFilter = Custom(
            name: filter.name, arguments: filter.arguments, index: record.index, photo: record.name, url: record.url)
        self.maxPixels = maxPixels
        self.maxBytes = maxBytes
        self.seconds = seconds
    }

    /// A request to develop a photo.
    init(_ options: DevelopOptions, seconds: Int, maxBytes: Int) {
        outputs = options.outputs.map { output in
            Output(
                rendition: output.rendition, filters: output.filters.map { PhotoFilter($0) }.text,
                encoding: output.encoding.description)
        }
        overlays = Dictionary(grouping: options.overlays) { OverlaySource($0.key) }.values.map { watermarks in
            Overlay(filters: watermarks.map(\.key.description), bytes: watermarks[0].value.count)
        }
        damage = options.damage
        keepsAnimation = options.keepsAnimation
        maxPixels = options.maxPixels
        maxStreamedPixels = options.maxStreamedPixels
        self.maxBytes = maxBytes
        self.seconds = seconds
    }

    /// The bytes after the request: the photo, and the watermarks in the order of ``overlays``.
    static func bytes(_ photo: [UInt8], _ job: HelperJob, _ options: DevelopOptions) -> [UInt8] {
        guard !job.overlays.isEmpty else { return photo }
        let files = options.overlays.reduce(into: [:]) { $0[$1.key.description] = $1.value }
        return photo + job.overlays.flatMap { files[$0.filters[0]] ?? [] }
    }

    /// Reads the photo and the options from a request and the bytes after the request.
    /// - Throws: `ChainSyntaxError` if the helper has another version than the worker and does not know a filter.
    func development(_ bytes: [UInt8]) throws -> (photo: [UInt8], options: DevelopOptions) {
        var options = DevelopOptions(
            outputs: try outputs.map { output in
                ImageOutput(
                    filters: try [PhotoFilter](parsing: output.filters).builtIn,
                    encoding: try PhotoEncoding(parsing: output.encoding), rendition: output.rendition)
            }, maxPixels: maxPixels, processorTime: .seconds(seconds))
        options.damage = damage
        options.maxStreamedPixels = maxStreamedPixels
        options.keepsAnimation = keepsAnimation
        var end = bytes.count
        for overlay in overlays.reversed() {
            guard (0...end).contains(overlay.bytes) else { throw HelperChannel.Failure.malformed }
            let file = Array(bytes[end - overlay.bytes..<end])
            for filter in overlay.filters { options.overlays[try Filter(parsing: filter)] = file }
            end -= overlay.bytes
        }
        return (overlays.isEmpty ? bytes : Array(bytes[..<end]), options)
    }
}

/// The first message of a helper, sent when the helper is confined.
struct HelperGreeting: Codable {
    /// The layer of the confinement that failed although the kernel supports it, and the reason. If there is a problem,
    /// the process ends after the greeting.
    var problem: String?
    /// Whether another start may succeed, for example after a lack of memory.
    var mayPass = true
}

/// The answer of a helper. The bytes of the files follow the answer.
struct HelperAnswer: Codable {
    /// The longest ``detail``, in Unicode scalars.
    static let maxDetail = 1000

    /// The number of pixels of the current photo, sent in a separate message before the answer. A helper may send
    /// several such messages for a photo, each with a larger number.
    var pixels: Int?
    /// The files that filters have produced; nil for a custom filter.
    var files: [File]?
    /// The tolerated defects of the photo.
    var note: String?
    /// The reason why the photo failed, as the word of a ``FailureReason``.
    var reason: String?
    var detail: String?

    struct File: Codable {
        var format: String
        var width: Int
        var height: Int
        var bytes: Int
        var lostGainMap = false
    }

    /// The valid widths and heights in pixels.
    private static let sides = 1...Int(Int32.max)

    /// Reads the files from this answer and the bytes after the answer; nil if a number is out of bounds.
    func products(_ bytes: [UInt8], count: Int) -> [PhotoProduct]? {
        guard let files, files.count == count else { return nil }
        var products: [PhotoProduct] = []
        var start = 0
        for file in files {
            guard let format = ImageFormat(rawValue: file.format), Self.sides.contains(file.width),
                Self.sides.contains(file.height), (0...bytes.count - start).contains(file.bytes)
            else { return nil }
            let content = files.count == 1 ? bytes : Array(bytes[start..<start + file.bytes])
            var product = PhotoProduct(content, .init(format: format, width: file.width, height: file.height))
            product.note = note.map(Self.cut)
            product.lostGainMap = file.lostGainMap
            products.append(product)
            start += file.bytes
        }
        return start == bytes.count ? products : nil
    }

    /// Truncates the text of an error to ``maxDetail``.
    static func cut(_ detail: String) -> String {
        String(String.UnicodeScalarView(detail.unicodeScalars.prefix(maxDetail)))
    }
}
