import ArgumentParsing
import Darkroom
import DarkroomImaging

/// The output format: the format of the input photo, or a fixed format.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case same, jpeg, png, webp, avif, heic, jxl, tiff, gif

    /// File name extensions that are accepted in place of the name of a format.
    static var otherArgumentTexts: [String: String] {
        Dictionary(ImageFormat.endings.map { ($0, ImageFormat(ending: $0)?.rawValue ?? $0) }) { first, _ in first }
    }

    /// The format; nil for the format of the input photo.
    var imageFormat: ImageFormat? { ImageFormat(rawValue: rawValue) }
}

/// Options for filters and the output format.
struct ImageOptions: ParsableArguments {
    @Option(
        help: """
            A filter: sepia, sepia=0.8 (intensity), tilt-shift=radius:3. Several filters are applied in the given \
            order; by default sepia=0.8. Or x:NAME alone: the custom operation that a worker has registered under that \
            name.
            """,
        valueName: "filter")
    var filter: [BatchFilter]
    @Option(help: "The output format.", valueName: "format") var format: OutputFormat = .same
    @Option(help: "The quality of lossy formats, 1 to 100.", valueName: "number") var quality: Int = 85
    @Flag(help: "Remove metadata and colour profile.") var strip: Bool

    func validate() throws {
        guard (1...100).contains(quality) else { throw ValidationError("--quality \(quality): from 1 to 100") }
        if let customOperation, filter.count > 1 {
            throw ValidationError(
                "--filter \(customOperation): a custom operation must be the only filter; leave out the others")
        }
    }

    var filters: [BatchFilter] { filter.isEmpty ? [.image(.standard)] : filter }

    var imageFilters: [Filter] {
        filters.compactMap { filter in
            if case .image(let filter) = filter { filter } else { nil }
        }
    }

    /// The custom operation among the filters; nil if there is none.
    var customOperation: BatchFilter? {
        filter.first { filter in
            if case .custom = filter { true } else { false }
        }
    }

    func apply(to options: inout BatchOptions) {
        options.filters = filters.map { PhotoFilter(stored: $0.description) }
        options.format = PhotoFormat(stored: format.rawValue)
        options.quality = quality
        options.strip = strip
    }
}
