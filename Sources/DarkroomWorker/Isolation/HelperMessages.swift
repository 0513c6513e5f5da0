import DarkroomImaging
import DarkroomModel

/// What a helper is to make of the bytes that follow.
struct HelperJob: Codable {
    /// Names the operation of one's own that runs in place of filters.
    var operation: String?
    var filters: [String]
    var format: String?
    var quality: Int
    var strip: Bool
    var maxPixels: Int
    /// Of the record, for operations of one's own; filters need none, so its URL and what it may carry stay with the worker.
    var index = 0
    var name = ""
    var url = ""
    /// How much address space the process may have; nil for what pictures need.
    var memory: Int?
    /// Processor time as in ``WorkerConfiguration/photoTimeout``.
    var seconds: Int

    init(_ photo: PhotoInProgress, memory: Int?, seconds: Int) {
        self.memory = memory
        let develop = photo.context.develop
        operation = photo.context.ownOperation?.name
        filters = develop.filters.map(\.description)
        format = develop.format?.rawValue
        quality = develop.quality
        strip = develop.strip
        maxPixels = develop.maxPixels
        self.seconds = seconds
        guard operation != nil else { return }
        index = photo.record.index
        name = photo.record.name
        url = photo.record.url
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

/// What a helper answers, with the bytes of the file.
struct HelperAnswer: Codable {
    /// The format of what filters made.
    var format: String?
    var width: Int?
    var height: Int?
    /// Why nothing was made: the word of a ``FailureReason``.
    var reason: String?
    var detail: String?
}
