import DarkroomImaging
import DarkroomModel
import DarkroomRecipes

/// How the photos of a batch are developed.
struct PhotoRecipe: Sendable {
    var renditions: [PhotoRendition]
    /// The limits and the decoding of the photos. The outputs of these options are not used.
    var limits: DevelopOptions
    /// The custom filters of the renditions, by name.
    var customFilters: [String: CustomFilterCode]

    init(renditions: [PhotoRendition], limits: DevelopOptions, customFilters: [String: CustomFilterCode] = [:]) {
        self.renditions = renditions
        self.limits = limits
        self.customFilters = customFilters
    }

    func canAlwaysStop(_ bytes: [UInt8], _ outputs: [ImageOutput]) -> Bool {
        Imaging.canAlwaysStop(bytes, options(outputs))
    }

    /// Whether a custom filter gets only PNG files that this program has encoded.
    func takesPNG(_ custom: PhotoFilter.Custom) -> Bool {
        if case .command(let command) = customFilters[custom.name] { command.input == .png } else { false }
    }

    func options(_ outputs: [ImageOutput]) -> DevelopOptions {
        var options = limits
        options.outputs = outputs
        return options
    }
}

/// How a custom filter of a filter chain runs.
enum CustomFilterCode: Sendable {
    /// A type of the user's Swift program.
    case registered(@Sendable () -> any CustomFilter)
    /// A command, which runs in separate processes.
    case command(FilterCommand)
}

extension PhotoRendition {
    /// A part of the filters that runs at once.
    enum Stage: Equatable {
        /// Decodes the bytes, applies filters, and encodes the result.
        case develop(ImageOutput)
        /// Gives the bytes to a custom filter, and takes its result.
        case custom(PhotoFilter.Custom)
    }

    /// The encoding of the photo that a custom filter gets: lossless, and fast.
    /// - Parameter isClean: whether the file contains pixels only. Metadata is from a stranger, and may attack the program
    ///   that reads it. Without metadata, a photo that is already a PNG file is encoded again.
    private func between(isClean: Bool) -> PhotoEncoding {
        var settings = PhotoEncoding()
        settings.format = .fixed(.png)
        settings.effort = 0
        settings.hdr = encoding.hdr
        if isClean {
            // The colour profile is metadata, too. Programs take a file without a profile for sRGB, so the pixels are
            // converted to sRGB.
            settings.metadata = MetadataSelection.none
            settings.srgb = true
        }
        return settings
    }

    /// The stages of the filters, at least one. The result of a custom filter at the end is kept as it is,
    /// unless the rendition has settings for its encoding.
    /// - Parameter takesPNG: whether a custom filter gets only PNG files that this program has encoded.
    func stages(_ takesPNG: (PhotoFilter.Custom) -> Bool) -> [Stage] {
        var stages: [Stage] = []
        var group: [Filter] = []
        for filter in filters {
            group += filter.builtIn.map { [$0] } ?? []
            guard let custom = filter.custom else { continue }
            let isClean = takesPNG(custom)
            if !group.isEmpty || isClean {
                stages.append(.develop(ImageOutput(filters: group, encoding: between(isClean: isClean))))
            }
            group = []
            stages.append(.custom(custom))
        }
        if !hasAnyEnding { stages.append(.develop(ImageOutput(filters: group, encoding: encoding))) }
        return stages
    }

    /// Whether the file may have any file name extension, because it is the result of a custom filter.
    package var hasAnyEnding: Bool {
        filters.last?.custom != nil && encoding == PhotoEncoding()
    }

    /// The formats that the file may have if ``hasAnyEnding`` is false.
    package var formats: [ImageFormat] { encoding.formats(of: nil) }
}
