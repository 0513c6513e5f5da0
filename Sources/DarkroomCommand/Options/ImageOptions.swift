import ArgumentParsing
import Darkroom

extension Filter: ExpressibleByArgument {
    /// Reads a filter as `sepia=0.8` or `tilt-shift=radius:3`.
    public init(argument: String) throws {
        do throws(FilterSyntaxError) {
            try self.init(parsing: argument)
        } catch {
            throw InvalidValue(error.problem)
        }
    }
}

/// The format written: that of the photo read, or one of the list.
enum OutputFormat: String, CaseIterable, ExpressibleByArgument {
    case same, jpeg, png, webp, avif, heic, jxl, tiff, gif

    /// The format; nil for that of the photo read.
    var imageFormat: ImageFormat? { ImageFormat(rawValue: rawValue) }
}

/// What is done to each photo, and as what it is written.
struct ImageOptions: ParsableArguments {
    @Option(
        help: "A filter, in their order: sepia, sepia=0.8 (intensity), tilt-shift=radius:3; sepia=0.8 unless given.",
        valueName: "filter")
    var filter: [Filter]
    @Option(help: "The format written.", valueName: "format") var format: OutputFormat = .same
    @Option(help: "The quality of lossy formats, 1 to 100.", valueName: "number") var quality: Int = 85
    @Flag(help: "Leave out metadata and colour profile.") var strip: Bool

    func validate() throws {
        guard (1...100).contains(quality) else { throw ValidationError("--quality \(quality): from 1 to 100") }
    }

    /// The filters in order.
    var filters: [Filter] { filter.isEmpty ? [.standard] : filter }

    /// Puts these into what a batch asks for.
    func apply(to options: inout BatchOptions) {
        options.filters = filters.map(\.description)
        options.format = format.rawValue
        options.quality = quality
        options.strip = strip
    }
}
