internal import CImaging
import DarkroomRecipes

/// Decodes the bytes of one photo, which must stay valid as long as its pictures.
struct Decoder {
    let bytes: UnsafeRawBufferPointer
    let format: ImageFormat
    let session: PhotoSession
    var acceptsDamage = false
    var keepsAnimation = false

    /// Reads the header, and checks the size.
    func open() throws(ImagingError) -> Picture {
        var picture: OpaquePointer?
        try session.check(withInput { darkroom_open(session.c, $0, &picture) })
        return Picture(picture!, session)  // set by a successful call
    }

    /// Whether decoding can make the picture smaller.
    var canShrink: Bool { format == .jpeg || format == .webp }

    /// Decodes an opened picture.
    /// - Parameters:
    ///   - shrink: 1, 2, 4 or 8: width and height are divided by this number. Other than 1 only if ``canShrink``.
    ///   - inMemory: Whether the pixels are decoded at once. Otherwise they can be read only once, from top to bottom.
    func decode(_ picture: Picture, shrink: Int = 1, inMemory: Bool) throws(ImagingError) {
        try session.check(withInput { darkroom_decode(picture.c, $0, Int32(shrink), inMemory) })
    }

    /// Decodes the photo without using its pixels.
    /// - Throws: ``ImagingError`` if the file is damaged.
    func check() throws(ImagingError) {
        if format == .jpeg { return try session.check(withInput { darkroom_check_jpeg(session.c, $0) }) }
        try decode(try open(), inMemory: true)
    }

    /// Develops a JPEG in strips. Returns nil if the file needs libvips.
    func developByStrips(_ options: ImageOutput) throws(ImagingError) -> DevelopedImage? {
        var file = darkroom_file()
        let status = withStripsJob(options) { input, job in darkroom_develop_by_strips(session.c, input, job, &file) }
        if status == DARKROOM_NOT_FOR_STRIPS { return nil }
        try session.check(status)
        return DevelopedImage(file)
    }

    func withInput(_ body: (UnsafePointer<darkroom_input>) -> darkroom_status) -> darkroom_status {
        let input = darkroom_input(
            bytes: bytes.bindMemory(to: UInt8.self).baseAddress, byte_count: bytes.count, format: format.c,
            accepts_damage: acceptsDamage, all_frames: keepsAnimation)
        return withUnsafePointer(to: input, body)
    }

    func withStripsJob(
        _ options: ImageOutput,
        _ body: (UnsafePointer<darkroom_input>, UnsafePointer<darkroom_strips_job>) -> darkroom_status
    ) -> darkroom_status {
        let points = options.filters.compactMap(\.point)
        return withUnsafePointer(to: options) { context in
            points.withUnsafeBufferPointer { points in
                let job = darkroom_strips_job(
                    plan: options.isScaledInStrips ? planOfStrips : nil, context: context, points: points.baseAddress,
                    point_count: Int32(points.count),
                    keeps_grey: points.allSatisfy(\.keepsGrey),
                    quality: Int32(options.encoding.quality ?? ImageOutput.standardQuality),
                    chroma: options.encoding.chroma.c,
                    strips_metadata: options.encoding.metadata == MetadataSelection.none)
                return withUnsafePointer(to: job) { job in withInput { body($0, job) } }
            }
        }
    }
}

/// `plan` of `darkroom_strips_job`; the context is an ``ImageOutput``.
private func planOfStrips(
    _ context: UnsafeRawPointer?, width: Int32, height: Int32, scaling: UnsafeMutablePointer<darkroom_strips_scaling>?
) -> Bool {
    let output = context!.assumingMemoryBound(to: ImageOutput.self).pointee  // set by withStripsJob
    guard let plan = output.scalingInStrips(PixelSize(width: Int(width), height: Int(height))) else { return false }
    scaling!.pointee = plan  // an output parameter
    return true
}
