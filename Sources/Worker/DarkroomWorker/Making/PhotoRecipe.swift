import DarkroomImaging
import DarkroomModel
import DarkroomRecipes

/// How the photos of a batch are developed.
package struct PhotoRecipe: Sendable {
    /// The files that are made of each photo: see `BatchOptions.completeRenditions()`.
    package var renditions: [PhotoRendition]
    /// The limits and the decoding of the photos. The outputs of these options are not used.
    package var limits: DevelopOptions
    /// The custom filters of the renditions, keyed by name.
    var customFilters: [String: CustomFilterCode] = [:]
    /// The batch, for custom filters; nil if the photos are not of a batch.
    var batch: BatchID?

    /// The recipe of a batch with these options. Loads the pictures of its watermarks. Blocks.
    /// - Parameters:
    ///   - maxPixels: see ``DevelopOptions/init(outputs:maxPixels:processorTime:)``.
    ///   - watermarks: returns a trusted folder that contains the watermark at an absolute path.
    /// - Throws: `ChainSyntaxError` if the options are invalid; ``Overlays/Failure`` if a watermark cannot be used; the
    ///   errors of `watermarks`.
    package init(
        _ options: BatchOptions, maxPixels: Int? = nil, processorTime: Duration? = nil,
        watermarks folder: (_ path: String) throws -> String
    ) throws {
        renditions = try options.completeRenditions()
        limits = DevelopOptions(outputs: [], maxPixels: maxPixels, processorTime: processorTime)
        limits.damage = DamageLevel(options.damagedPhotos)
        limits.keepsAnimation = options.keepsAnimations
        limits.overlays = try Overlays.load(for: renditions, below: folder)
    }

    /// Whether a custom filter gets only PNG files that this program has encoded.
    func takesPNG(_ custom: PhotoFilter.Custom) -> Bool {
        if case .command(let command) = customFilters[custom.name] { command.input == .png } else { false }
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
    /// A part of the filter chain that runs in one step.
    enum Stage: Equatable {
        /// Decodes the bytes, applies filters, and encodes the result.
        case develop(ImageOutput)
        /// Gives the bytes to a custom filter, and takes its result.
        case custom(PhotoFilter.Custom)
    }

    /// The encoding of the photo that a custom filter gets: lossless, and fast.
    /// - Parameter isClean: whether the file contains pixels only. Metadata is untrusted, and may attack the program
    ///   that reads it. To remove metadata, a photo that is already a PNG file is encoded again.
    private func between(isClean: Bool) -> PhotoEncoding {
        var settings = PhotoEncoding()
        settings.format = .fixed(.png)
        settings.effort = 0
        settings.hdr = encoding.hdr
        if isClean {
            // The colour profile is metadata, too. Programs treat a file without a profile as sRGB, so the pixels are
            // converted to sRGB.
            settings.metadata = MetadataSelection.none
            settings.srgb = true
        }
        return settings
    }

    /// The stages of the filters, at least one. The result of a custom filter at the end of the chain is kept
    /// unchanged, unless the rendition has encoding settings.
    /// - Parameter takesPNG: whether a custom filter gets only PNG files that this program has encoded.
    func stages(_ takesPNG: (PhotoFilter.Custom) -> Bool) -> [Stage] {
        var stages: [Stage] = []
        var group: [Filter] = []
        for filter in filters {
            switch filter.content {
            case .builtIn(let filter): group.append(filter)
            case .custom(let custom):
                let isClean = takesPNG(custom)
                if !group.isEmpty || isClean {
                    stages.append(.develop(ImageOutput(filters: group, encoding: between(isClean: isClean))))
                }
                group = []
                stages.append(.custom(custom))
            case .text(let text): preconditionFailure("a filter that was not checked: \(text)")
            }
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
