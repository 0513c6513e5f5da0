internal import CImaging
import DarkroomRecipes

/// How one file is made of a photo.
package struct ImageOutput: Sendable, Equatable {
    /// The filters, applied in order.
    package var filters: [Filter]
    /// Absent settings have the defaults of ``DarkroomImaging``.
    package var encoding: PhotoEncoding
    /// The name of the rendition, for errors; empty if the photo has no renditions.
    package var rendition = ""

    package init(filters: [Filter] = [], encoding: PhotoEncoding = PhotoEncoding(), rendition: String = "") {
        self.filters = filters
        self.encoding = encoding
        self.rendition = rendition
    }

    /// The quality of lossy formats if no quality is given. From 90 on, JPEG stores the colours in full resolution.
    package static let standardQuality = 85

    /// Whether a photo of this format and size needs no change, so that its bytes can be kept.
    func keeps(_ format: ImageFormat, byteCount: Int) -> Bool {
        let isChanged = encoding.given.contains { setting in
            switch setting {
            case .format: !encoding.isFormat(format)
            case .maxBytes: byteCount > encoding.maxBytes ?? .max
            case .metadata: encoding.metadata != .all
            // Without encoding, these settings have no effect.
            case .effort, .background, .hdr: false
            default: encoding.affects(format, setting)
            }
        }
        return filters.isEmpty && !isChanged
    }

    /// Whether all frames of an animation of this format are developed: true if each possible output format has
    /// animations.
    func canMove(from source: ImageFormat) -> Bool {
        encoding.formats(of: source).allSatisfy { [.gif, .webp].contains($0) }
    }

    /// Whether the file for a JPEG can be made in strips.
    var suitsStrips: Bool {
        encoding.isFormat(.jpeg) && encoding.progressive != true && encoding.effort == nil && encoding.maxBytes == nil
            && encoding.srgb != true
            && [.all, .profile, .none].contains(encoding.metadata ?? .all)
            && filters.dropFirst(isScaledInStrips ? 1 : 0).allSatisfy { $0.point != nil }
    }

    /// Whether the first filter can be applied in strips, provided that the filter makes the photo smaller.
    var isScaledInStrips: Bool {
        guard let first = filters.first else { return false }
        return first.kind == .resize && first.canShrinkOnLoad && !first.dependsOnContent
    }

    /// The filters that change each pixel on its own.
    var points: [darkroom_point] { filters.compactMap(\.point) }

    /// The scaling by the first filter for a JPEG of this size that the decoder shrinks by `shrink`. Returns nil if the
    /// scaling needs libvips.
    func scalingInStrips(_ size: PixelSize, shrunkBy shrink: Int) -> darkroom_strips_scaling? {
        let filter = filters[0], plan = filter.plan(for: size), scaled = plan.scaled
        guard scaled.width <= size.width, scaled.height <= size.height, plan.canvas == nil else { return nil }
        let shrunk = PixelSize(width: size.width / shrink, height: size.height / shrink)
        let scale = plan.scale(of: shrunk)
        let whole = Box(x: 0, y: 0, width: scaled.width, height: scaled.height)
        let cut = plan.cut.map { filter.box(of: $0, in: scaled) } ?? whole
        return darkroom_strips_scaling(
            scaling: darkroom_scaling(
                width: Int32(shrunk.width), height: Int32(shrunk.height), scaled_width: Int32(scaled.width),
                scaled_height: Int32(scaled.height), across: scale.across, down: scale.down, kernel: filter.kernel,
                bands: 3, wide: false),
            cut: cut.c)
    }
}

extension PhotoEncoding {
    /// Whether photos of this format keep their format.
    func isFormat(_ format: ImageFormat) -> Bool {
        switch self.format ?? .same {
        case .same: true
        case .fixed(let fixed): fixed == format
        case .automatic(let formats): formats == [format]
        }
    }

    /// Whether a JPEG is encoded in several passes: progressively, or with optimized Huffman tables.
    var needsSeveralPassesOfJPEG: Bool { progressive == true || effort ?? 0 > 4 }

    /// The C settings for one of the formats.
    func c(_ format: ImageFormat, quality: Int) -> darkroom_encoding {
        let background = background ?? .white
        return darkroom_encoding(
            format: format.c, quality: Int32(quality), lossless: lossless == true, effort: Int32(effort ?? -1),
            progressive: progressive == true, chroma: chroma.c, palette: palette == true,
            background: (Double(background.red), Double(background.green), Double(background.blue)))
    }

    /// The kinds of metadata to keep, for the C functions.
    var metadataKinds: Int32 {
        let metadata = metadata ?? .all
        let kinds: [MetadataSelection.Item: darkroom_metadata] = [
            .exif: DARKROOM_EXIF, .xmp: DARKROOM_XMP, .iptc: DARKROOM_IPTC, .icc: DARKROOM_ICC,
            .copyright: DARKROOM_COPYRIGHT,
        ]
        let items = metadata.items.compactMap { kinds[$0] } + (metadata.keepsGPS ? [DARKROOM_GPS] : [])
        return items.reduce(0) { $0 | Int32($1.rawValue) }
    }
}

extension PhotoEncoding.ChromaSubsampling? {
    var c: darkroom_chroma {
        switch self {
        case nil: DARKROOM_CHROMA_BY_QUALITY
        case .half: DARKROOM_CHROMA_420
        case .some(.none): DARKROOM_CHROMA_444
        }
    }
}
