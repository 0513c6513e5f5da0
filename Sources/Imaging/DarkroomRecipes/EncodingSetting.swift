/// The names of encoding settings, which are the same in renditions and as options of commands.
package enum EncodingSetting: String, Sendable, CaseIterable {
    case format, quality, lossless, effort, progressive, chroma, palette
    case maxBytes = "max-bytes"
    case metadata, background, srgb, hdr

    /// The meaning of the setting, in one sentence.
    package var summary: String {
        switch self {
        case .format:
            """
            The output format: same, jpeg, png, webp, avif, heic, jxl, tiff or gif; auto, or auto:webp,jpeg, writes \
            the smallest.
            """
        case .quality: "The quality of lossy formats, 1 to 100."
        case .lossless: "Encode WebP, AVIF, HEIC and JPEG XL without loss."
        case .effort: "The time that encoders may take for smaller files, 0 to 9."
        case .progressive: "Write progressive JPEG and interlaced PNG."
        case .chroma: "The chroma subsampling of JPEG, WebP, AVIF and HEIC: 420 or 444."
        case .palette: "Write PNG with a palette of at most 256 colours."
        case .maxBytes: "Lower the quality as little as necessary for a file of at most this size, such as 200K."
        case .metadata:
            """
            The metadata to keep: all, none, no-gps, or a list of copyright (the author and the copyright of EXIF), icc, \
            exif, xmp, iptc and no-gps.
            """
        case .background: "The colour below transparent pixels if the output format has no transparency."
        case .srgb: "Convert the colours to sRGB."
        case .hdr: "What to do with HDR photos (PQ and HLG): tone-map converts them to sRGB, fail refuses them."
        }
    }

    /// The name of the value in help; nil for a setting that is `yes` if only its name is given.
    package var valueName: String? {
        switch self {
        case .lossless, .progressive, .palette, .srgb: nil
        case .format: "format"
        case .quality, .effort: "number"
        case .chroma, .hdr: "kind"
        case .maxBytes: "size"
        case .metadata: "kinds"
        case .background: "colour"
        }
    }
}
