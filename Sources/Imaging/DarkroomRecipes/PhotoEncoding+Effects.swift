extension PhotoEncoding {
    /// The formats to choose from; empty for the format of the photo.
    package var candidates: [ImageFormat] {
        switch format ?? .same {
        case .same: []
        case .fixed(let format): [format]
        case .automatic(let formats): formats
        }
    }

    /// The formats that the file of a photo may have. `source` is the format of the photo; nil if it is unknown.
    package func formats(of source: ImageFormat?) -> [ImageFormat] {
        candidates.isEmpty ? source.map { [$0] } ?? ImageFormat.allCases : candidates
    }

    /// The settings that have a value other than `no`.
    package var given: [EncodingSetting] {
        EncodingSetting.allCases.filter { ![nil, "no"].contains(text(of: $0)) }
    }

    /// Whether a lower quality gives smaller files of the format.
    package func hasQuality(_ format: ImageFormat) -> Bool {
        affects(format, .maxBytes)
    }

    /// Whether a setting that is given can change files of the format.
    package func affects(_ format: ImageFormat, _ setting: EncodingSetting) -> Bool {
        let isLossless = lossless == true && EncodingSetting.lossless.formats.contains(format)
        switch setting {
        case .quality where format == .png: return palette == true
        case .quality, .maxBytes, .chroma: return setting.formats.contains(format) && !isLossless
        default: return setting.formats.contains(format)
        }
    }

    /// The first given setting that has no effect on a file, and the reason; nil if each setting may have an effect.
    /// - Parameter given: The settings that were given for this file. The other settings of this value are defaults of
    ///   several files, so they need not change this file.
    package func settingWithoutEffect(of given: PhotoEncoding) -> (setting: EncodingSetting, problem: String)? {
        for setting in given.given {
            if let problem = problem(of: setting) { return (setting, problem) }
        }
        return nil
    }

    private func problem(of setting: EncodingSetting) -> String? {
        let formats = formats(of: nil)
        if formats.contains(where: { affects($0, setting) }) { return nil }
        if lossless == true, formats.contains(where: { $0 != .png && setting.formats.contains($0) }) {
            return "no effect with lossless; leave one of them out"
        }
        let lossy = setting == .quality && formats.contains(.png) ? ", or for png with palette" : ""
        return "no effect on \(Self.list(formats)); it is for "
            + Self.list(setting.formats.filter { setting != .quality || $0 != .png }) + lossy
    }

    /// Checks that each setting of a file may have an effect.
    /// - Parameters:
    ///   - given: The settings that were given for this file.
    ///   - text: A text that ends with the description of `given`, for the error.
    package func check(_ given: PhotoEncoding, in text: String) throws(ChainSyntaxError) {
        guard let (setting, problem) = settingWithoutEffect(of: given) else { return }
        let lengths = EncodingSetting.allCases.prefix { $0 != setting }
            .compactMap { given.assignment(of: $0) }.map { $0.unicodeScalars.count + 2 }
        let start =
            text.unicodeScalars.count - given.description.unicodeScalars.count + lengths.reduce(0, +)
        let range = start..<start + setting.rawValue.unicodeScalars.count
        throw ChainSyntaxError(text, range, "\(setting.rawValue): \(problem)")
    }

    private static func list(_ formats: [ImageFormat]) -> String {
        let names = formats.map(\.rawValue)
        return names.count < 2
            ? names.joined() : names.dropLast().joined(separator: ", ") + " and " + names[names.count - 1]
    }
}

extension EncodingSetting {
    /// The formats whose files the setting can change.
    fileprivate var formats: [ImageFormat] {
        switch self {
        case .format, .metadata, .srgb, .hdr: ImageFormat.allCases
        case .quality: [.jpeg, .png, .webp, .avif, .heic, .jxl]
        case .maxBytes: [.jpeg, .webp, .avif, .heic, .jxl]
        case .lossless: [.webp, .avif, .heic, .jxl]
        case .effort: [.jpeg, .png, .webp, .avif, .jxl, .gif]
        case .progressive: [.jpeg, .png]
        case .chroma: [.jpeg, .webp, .avif, .heic]
        case .palette: [.png]
        case .background: [.jpeg]
        }
    }
}
