/// How files are encoded: format, quality, metadata and so on. A setting that is not given has its default.
///
/// ```swift
/// options.encoding = PhotoEncoding("format=webp; quality=70; metadata=none")
/// ```
///
/// The page Formats lists the settings.
public struct PhotoEncoding: Sendable, Hashable {
    package enum ChromaSubsampling: String, Sendable, CaseIterable {
        case half = "420"
        case none = "444"
    }

    /// What happens to photos with the transfer functions PQ and HLG.
    package enum HDRHandling: String, Sendable, CaseIterable {
        /// The photos are converted to sRGB.
        case toneMap = "tone-map"
        case fail
    }

    package var format: FormatChoice?
    /// 1 to 100.
    package var quality: Int?
    package var lossless: Bool?
    /// 0 to 9.
    package var effort: Int?
    package var progressive: Bool?
    package var chroma: ChromaSubsampling?
    package var palette: Bool?
    /// The largest size of the file in bytes.
    package var maxBytes: Int?
    package var metadata: MetadataSelection?
    package var background: Colour?
    package var srgb: Bool?
    /// Without this setting, photos are tone-mapped.
    package var hdr: HDRHandling?

    /// The text of an invalid encoding, which has no settings; nil if the encoding is valid.
    private var invalidText: String?

    /// Creates settings from their text. An invalid text is rejected when the batch is submitted.
    public init(_ text: String = "") {
        guard !text.isEmpty else { return }
        do throws(ChainSyntaxError) {
            self = try PhotoEncoding(parsing: text)
        } catch {
            // `checked` parses the text again and throws the error.
            invalidText = text
        }
    }

    /// Parses the text of ``description``: `format=webp; quality=70`, or an empty text.
    package init(parsing text: String) throws(ChainSyntaxError) {
        var parser = RenditionParser(TextScanner(text))
        self = try parser.settings()
    }

    var isValid: Bool { invalidText == nil }

    /// These settings.
    /// - Throws: ``ChainSyntaxError`` if the text from which they were created is invalid.
    package func checked() throws(ChainSyntaxError) -> PhotoEncoding {
        if let invalidText { try PhotoEncoding(parsing: invalidText) } else { self }
    }

    /// These settings, completed by `defaults`.
    package func merged(over defaults: PhotoEncoding) -> PhotoEncoding {
        var merged = self
        merged.format = format ?? defaults.format
        merged.quality = quality ?? defaults.quality
        merged.lossless = lossless ?? defaults.lossless
        merged.effort = effort ?? defaults.effort
        merged.progressive = progressive ?? defaults.progressive
        merged.chroma = chroma ?? defaults.chroma
        merged.palette = palette ?? defaults.palette
        merged.maxBytes = maxBytes ?? defaults.maxBytes
        merged.metadata = metadata ?? defaults.metadata
        merged.background = background ?? defaults.background
        merged.srgb = srgb ?? defaults.srgb
        merged.hdr = hdr ?? defaults.hdr
        return merged
    }
}

// MARK: - Texts of values

extension PhotoEncoding {
    /// Parses the value of a setting.
    package mutating func set(_ setting: EncodingSetting, to text: String) throws(InvalidParameterValue) {
        let name = setting.rawValue
        switch setting {
        case .format: format = try FormatChoice(parsing: text, of: name)
        case .quality: quality = try Self.whole(text, 1...100, name)
        case .lossless: lossless = try Self.flag(text, name)
        case .effort: effort = try Self.whole(text, 0...9, name)
        case .progressive: progressive = try Self.flag(text, name)
        case .chroma:
            guard let kind = ChromaSubsampling(rawValue: text) else {
                throw InvalidParameterValue(text, name, "write 420 or 444")
            }
            chroma = kind
        case .palette: palette = try Self.flag(text, name)
        case .maxBytes: maxBytes = try Self.bytes(text, name)
        case .metadata: metadata = try MetadataSelection(parsing: text, of: name)
        case .background:
            if case .colour(let colour) = try ValueKind.colour(isOpaque: true).parse(text, of: name) {
                background = colour
            }
        case .srgb: srgb = try Self.flag(text, name)
        case .hdr:
            guard let kind = HDRHandling(rawValue: text) else {
                throw InvalidParameterValue(text, name, "write tone-map or fail")
            }
            hdr = kind
        }
    }

    /// The canonical text of a value; nil if the setting is absent.
    package func text(of setting: EncodingSetting) -> String? {
        switch setting {
        case .format: format?.description
        case .quality: quality.map { "\($0)" }
        case .lossless: Self.text(lossless)
        case .effort: effort.map { "\($0)" }
        case .progressive: Self.text(progressive)
        case .chroma: chroma?.rawValue
        case .palette: Self.text(palette)
        case .maxBytes: maxBytes.map { $0 % 1000 == 0 ? "\($0 / 1000)K" : "\($0)" }
        case .metadata: metadata?.description
        case .background: background?.description
        case .srgb: Self.text(srgb)
        case .hdr: hdr?.rawValue
        }
    }

    private static func text(_ flag: Bool?) -> String? { flag.map { $0 ? "yes" : "no" } }

    private static func flag(_ text: String, _ name: String) throws(InvalidParameterValue) -> Bool {
        try ValueKind.flag.parse(text, of: name) == .flag(true)
    }

    private static func whole(
        _ text: String, _ range: ClosedRange<Double>, _ name: String
    ) throws(InvalidParameterValue) -> Int {
        Int(try ValueKind.parseNumber(text, name, range, .none, .whole))
    }

    /// K and M are powers of 1000. A file within this limit is also within the limit that the user may have meant, with
    /// powers of 1024.
    private static func bytes(_ text: String, _ name: String) throws(InvalidParameterValue) -> Int {
        let powers = ["": 0, "B": 0, "K": 3, "KB": 3, "M": 6, "MB": 6]
        guard let decimal = Decimal(text), let power = powers[decimal.unit.uppercased()],
            (100...1e12).contains(decimal.value(timesTenToThe: power))
        else { throw InvalidParameterValue(text, name, "write at least 100 bytes, such as 50000, 200K or 1.5M") }
        return Int(decimal.value(timesTenToThe: power))
    }
}

extension PhotoEncoding: CustomStringConvertible {
    /// The settings as text, as in renditions: `format=webp; quality=70`. Empty if no setting is given. An invalid text
    /// is returned unchanged.
    public var description: String {
        invalidText ?? EncodingSetting.allCases.compactMap(assignment).joined(separator: "; ")
    }

    /// `quality=70`; nil if the setting is absent.
    func assignment(of setting: EncodingSetting) -> String? {
        text(of: setting).map { "\(setting.rawValue)=\($0)" }
    }
}
