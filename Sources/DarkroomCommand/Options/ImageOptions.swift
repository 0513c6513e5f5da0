import ArgumentParsing
import Darkroom
import DarkroomImaging

/// The format written: that of the photo read, or one of the list.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case same, jpeg, png, webp, avif, heic, jxl, tiff, gif

    /// File name endings that differ from the name of their format.
    static var otherArgumentTexts: [String: String] {
        Dictionary(ImageFormat.endings.map { ($0, ImageFormat(ending: $0)?.rawValue ?? $0) }) { first, _ in first }
    }

    /// The format; nil for that of the photo read.
    var imageFormat: ImageFormat? { ImageFormat(rawValue: rawValue) }
}

/// What is done to each photo, and as what it is written.
struct ImageOptions: ParsableArguments {
    @Option(
        help: """
            A filter, in their order: sepia, sepia=0.8 (intensity), tilt-shift=radius:3; sepia=0.8 unless given. Or, alone, \
            x:NAME: the operation that a worker of your own has under that name.
            """,
        valueName: "filter")
    var filter: [BatchFilter]
    @Option(help: "The format written.", valueName: "format") var format: OutputFormat = .same
    @Option(help: "The quality of lossy formats, 1 to 100.", valueName: "number") var quality: Int = 85
    @Flag(help: "Leave out metadata and colour profile.") var strip: Bool

    func validate() throws {
        guard (1...100).contains(quality) else { throw ValidationError("--quality \(quality): from 1 to 100") }
        if let ownOperation, filter.count > 1 {
            throw ValidationError(
                "--filter \(ownOperation): an operation of your own is the batch's only filter; leave out the others")
        }
    }

    /// The filters in order.
    var filters: [BatchFilter] { filter.isEmpty ? [.image(.standard)] : filter }

    /// Those of the filters that are image filters.
    var imageFilters: [Filter] {
        filters.compactMap { filter in
            if case .image(let filter) = filter { filter } else { nil }
        }
    }

    /// The operation of a worker's own that is asked for.
    var ownOperation: BatchFilter? {
        filter.first { filter in
            if case .own = filter { true } else { false }
        }
    }

    /// Puts these into what a batch asks for.
    func apply(to options: inout BatchOptions) {
        options.filters = filters.map { PhotoFilter(stored: $0.description) }
        options.format = PhotoFormat(stored: format.rawValue)
        options.quality = quality
        options.strip = strip
    }
}
