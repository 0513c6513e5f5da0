internal import CImaging
import DarkroomRecipes

/// The pictures of watermarks.
extension Imaging {
    /// The height of a line of a text watermark, in pixels. The watermark is scaled to the size of each photo.
    private static let lineHeight = 96

    /// The reason why a file cannot be a watermark; nil if it can. The file is untrusted; only its header is read.
    package static func problem(ofOverlay bytes: [UInt8]) -> String? {
        do throws(ImagingError) {
            let options = DevelopOptions(outputs: [], maxPixels: Watermarks.maxPixels)
            try bytes.withBytes { bytes throws(ImagingError) in
                try withDecoder(bytes, options, isCancelled: { false }) { decoder throws(ImagingError) in
                    _ = try decoder.open()
                }
            }
            return nil
        } catch {
            return error.code == .tooManyPixels
                ? "it has more than \(Watermarks.maxPixels) pixels" : "\(error)"
        }
    }

    /// Renders a line of text on a transparent background.
    /// - Parameter font: The name of a font family, possibly with a style; nil for the default sans-serif font.
    /// - Returns: A PNG file.
    package static func render(_ text: String, font: String?, colour: Colour) throws(ImagingError) -> [UInt8] {
        try start()
        let session = PhotoSession.unlimited(format: .png)
        var rendered: OpaquePointer?
        try session.check(
            darkroom_render_text(session.c, text, font ?? "sans", Int32(lineHeight), &rendered))
        let picture = Picture(rendered!, session)  // set by a successful call
        try picture.apply([.constant(colour)])
        var encoding = PhotoEncoding()
        encoding.format = .fixed(.png)
        return try Encoder(settings: encoding, source: .png).encode(picture).withUnsafeBytes { Array($0) }
    }
}

extension darkroom_point {
    /// Gives all pixels one colour.
    fileprivate static func constant(_ colour: Colour) -> darkroom_point {
        affine(Matrix(rows: colour.components.prefix(3).map { [0, 0, 0, $0 / 255] }))
    }
}
