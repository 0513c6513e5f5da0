internal import CImaging
import DarkroomRecipes
internal import Glibc

/// Decodes the bytes of one photo. The bytes must stay valid as long as the pictures of the photo exist.
struct Decoder {
    /// The file, or a copy without the defects outside of its pixels.
    private(set) var bytes: UnsafeRawBufferPointer
    let format: ImageFormat
    let session: PhotoSession
    var damage = DamageLevel.tolerate
    var keepsAnimation = false
    var refusesHDR = false

    /// Calls `body` with this decoder or, if the file has defects outside of its pixels, with a decoder for a copy
    /// without them.
    /// - Throws: ``ImagingError`` with the code `damaged` if there are defects and ``damage`` is `fail`.
    func mended<Result>(
        _ body: (Decoder) throws(ImagingError) -> Result
    ) throws(ImagingError) -> Result {
        var file = darkroom_file()
        try session.check(withInput { darkroom_mend(session.c, $0, &file) })
        guard let copy = file.bytes else { return try body(self) }
        defer { free(copy) }
        var decoder = self
        decoder.bytes = UnsafeRawBufferPointer(start: copy, count: file.byte_count)
        return try body(decoder)
    }

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
    ///   - shrink: 1, 2, 4 or 8: width and height are divided by this number. Must be 1 unless ``canShrink`` is true.
    ///   - inMemory: Whether all pixels are decoded into memory during this call. Otherwise the rows can be read only
    ///     once, from top to bottom.
    func decode(_ picture: Picture, shrink: Int = 1, inMemory: Bool) throws(ImagingError) {
        try session.check(withInput { darkroom_decode(picture.c, $0, Int32(shrink), inMemory) })
    }

    /// Whether the photo has a gain map. Developed files have no gain map.
    var hasGainMap: Bool { withInput { darkroom_has_gain_map($0) } }

    /// Decodes the photo, and discards its pixels.
    /// - Throws: ``ImagingError`` if the file is damaged.
    func check() throws(ImagingError) {
        if format == .jpeg { return try session.check(withInput { darkroom_check_jpeg(session.c, $0) }) }
        try decode(try open(), inMemory: true)
    }

    /// Develops a JPEG in strips. Returns nil if the file needs libvips.
    func developByStrips(_ outputs: [ImageOutput]) throws(ImagingError) -> [ImageFile]? {
        var files = outputs.map { _ in darkroom_file() }
        let status = withStripsJobs(outputs) { input, jobs in
            withUnsafePointer(to: outputs) { context in
                let isScaled = outputs.contains(where: \.isScaledInStrips)
                let planner = darkroom_planner(plan: isScaled ? planInStrips : nil, context: context)
                return darkroom_develop_by_strips(session.c, input, jobs, Int32(outputs.count), planner, &files)
            }
        }
        if status == DARKROOM_NOT_FOR_STRIPS { return nil }
        try session.check(status)
        return files.map { ImageFile($0) }
    }

    func withInput<Result>(_ body: (UnsafePointer<darkroom_input>) -> Result) -> Result {
        let input = darkroom_input(
            bytes: bytes.bindMemory(to: UInt8.self).baseAddress, byte_count: bytes.count, format: format.c,
            damage: damage.c, all_frames: keepsAnimation, refuses_hdr: refusesHDR)
        return withUnsafePointer(to: input, body)
    }

    func withStripsJobs(
        _ outputs: [ImageOutput],
        _ body: (UnsafePointer<darkroom_input>, UnsafePointer<darkroom_strips_job>) -> darkroom_status
    ) -> darkroom_status {
        let points = outputs.flatMap(\.points)
        return points.withUnsafeBufferPointer { points in
            var start = 0
            let jobs = outputs.map { output in
                defer { start += output.points.count }
                return darkroom_strips_job(
                    points: points.baseAddress.map { $0 + start }, point_count: Int32(output.points.count),
                    keeps_grey: output.points.allSatisfy(\.keepsGrey),
                    quality: Int32(output.encoding.quality ?? ImageOutput.standardQuality),
                    chroma: output.encoding.chroma.c,
                    metadata: output.encoding.metadataKinds)
            }
            return withInput { input in jobs.withUnsafeBufferPointer { body(input, $0.baseAddress!) } }  // not empty
        }
    }
}

/// `plan` of `darkroom_planner`; the context is an array of ``ImageOutput``.
private func planInStrips(
    _ context: UnsafeRawPointer?, index: Int32, width: Int32, height: Int32, shrink: UnsafeMutablePointer<Int32>?,
    scaling: UnsafeMutablePointer<darkroom_strips_scaling>?
) -> Bool {
    let outputs = context!.assumingMemoryBound(to: [ImageOutput].self).pointee  // set by developByStrips
    let size = PixelSize(width: Int(width), height: Int(height))
    let common = outputs.map { $0.shrinkOnLoad(size) }.min() ?? 1
    shrink!.pointee = Int32(common)  // an output parameter
    let output = outputs[Int(index)]
    guard output.isScaledInStrips else { return true }
    guard let plan = output.scalingInStrips(size, shrunkBy: common) else { return false }
    scaling!.pointee = plan  // an output parameter
    return true
}
