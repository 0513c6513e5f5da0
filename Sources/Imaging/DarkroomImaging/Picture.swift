internal import CImaging
import DarkroomRecipes

/// A decoded picture whose pixels are computed when they are needed: grey or RGB, with or without alpha, with 8 or 16
/// bits.
final class Picture {
    private(set) var c: OpaquePointer
    let session: PhotoSession

    /// Takes ownership of `c`.
    init(_ c: OpaquePointer, _ session: PhotoSession) {
        self.c = c
        self.session = session
    }

    deinit { darkroom_free(c) }

    var facts: darkroom_facts { darkroom_picture_facts(c) }
    var size: PixelSize { PixelSize(width: Int(facts.width), height: Int(facts.height)) }
    var isGrey: Bool { facts.bands <= 2 }
    var hasAlpha: Bool { facts.bands % 2 == 0 }

    /// A second picture with the same pixels, which must be in memory.
    func copy() throws(ImagingError) -> Picture { try copy(for: session) }

    /// A copy that has the limits of another session.
    func copy(for session: PhotoSession) throws(ImagingError) -> Picture {
        guard let copy = darkroom_copy(c, session.c) else { throw session.outOfMemory }
        return Picture(copy, session)
    }

    // MARK: - Pixels

    func keepInMemory() throws(ImagingError) { try session.check(darkroom_keep_in_memory(c)) }

    typealias RasterOperation = (inout darkroom_raster, inout darkroom_interrupt) -> darkroom_status

    /// Calls an operation that changes the pixels in memory.
    func edit(_ operation: RasterOperation) throws(ImagingError) { try call(operation, darkroom_edit) }

    /// Calls an operation that only reads the pixels in memory.
    func look(_ operation: RasterOperation) throws(ImagingError) { try call(operation, darkroom_look) }

    private func call(
        _ operation: RasterOperation,
        _ access: (OpaquePointer, UnsafeMutablePointer<darkroom_raster>) -> darkroom_status
    ) throws(ImagingError) {
        var raster = darkroom_raster()
        var interrupt = session.interrupt
        try session.check(access(c, &raster))
        try session.check(operation(&raster, &interrupt))
    }

    // MARK: - Colours

    func makeRGB() throws(ImagingError) { try session.check(darkroom_make_rgb(c)) }
    func makeSRGB() throws(ImagingError) { try session.check(darkroom_make_srgb(c)) }
    func addAlpha() throws(ImagingError) { try session.check(darkroom_add_alpha(c)) }

    /// Converts to 16 bits if `isWide`, otherwise to 8 bits.
    func setWide(_ isWide: Bool) throws(ImagingError) {
        try session.check(isWide ? darkroom_make_wide(c) : darkroom_make_narrow(c))
    }

    /// Applies filters that change each pixel on its own, in one pass.
    func apply(_ points: [darkroom_point]) throws(ImagingError) {
        if isGrey, !points.allSatisfy(\.keepsGrey) { try makeRGB() }
        try session.check(darkroom_filter_points(c, points, Int32(points.count)))
    }

    /// Converts grey to RGB if the colour is not grey, and adds alpha if the colour is transparent, so that the picture
    /// can contain the colour.
    func makeRoom(for colour: Colour) throws(ImagingError) {
        if !colour.isGrey { try makeRGB() }
        if colour.alpha < 255 { try addAlpha() }
    }

    // MARK: - Geometry

    /// Scales to `plan.scaled`.
    func resize(by plan: ResizeRules.Plan, kernel: darkroom_kernel, linear: Bool) throws(ImagingError) {
        try session.checkSize(width: plan.scaled.width, height: plan.scaled.height)
        guard size != plan.scaled else { return }
        let scale = plan.scale(of: size)
        try session.check(darkroom_resize(c, scale.across, scale.down, kernel, linear))
    }

    /// Scales each side on its own.
    func resize(to size: PixelSize, kernel: darkroom_kernel) throws(ImagingError) {
        try resize(by: ResizeRules.Plan(scaled: size), kernel: kernel, linear: false)
    }

    func extract(_ box: Box) throws(ImagingError) { try session.check(darkroom_extract(c, box.c)) }

    /// Places the picture in a larger one; `box` has the position of the picture and the size of the larger one.
    func embed(in box: Box, background: Colour) throws(ImagingError) {
        try session.checkSize(width: box.width, height: box.height)
        try makeRoom(for: background)
        try session.check(darkroom_embed(c, box.c, background.components))
    }

    /// The box of this size that contains the most detail (entropy), or that attracts the most attention.
    func interestingBox(of size: PixelSize, byAttention: Bool) throws(ImagingError) -> Box {
        try keepInMemory()
        var box = darkroom_box()
        try session.check(darkroom_find_crop(c, Int32(size.width), Int32(size.height), byAttention, &box))
        return Box(box)
    }

    /// The box without the plain borders; nil if the whole picture is plain.
    func trimBox(threshold: Double, background: Colour?) throws(ImagingError) -> Box? {
        if let background, !background.isGrey { try makeRGB() }
        var box = darkroom_box()
        try look { raster, interrupt in
            darkroom_raster_find_trim(&raster, threshold, background?.components, &box, &interrupt)
        }
        return box.width > 0 ? Box(box) : nil
    }

    func turn(quarters: Int) throws(ImagingError) {
        try keepInMemory()
        try session.check(darkroom_turn(c, Int32(quarters)))
    }

    func rotate(degrees: Double, background: Colour) throws(ImagingError) {
        let size = size.rotated(degrees: degrees)
        try session.checkSize(width: size.width, height: size.height)
        try makeRoom(for: background)
        try keepInMemory()
        try session.check(darkroom_rotate(c, degrees, background.components))
    }

    func mirror(leftRight: Bool) throws(ImagingError) {
        try keepInMemory()
        try session.check(darkroom_mirror(c, leftRight))
    }

    // MARK: - Frames

    /// A frame of this animation. The pixels of the animation must be in memory.
    func frame(_ index: Int) throws(ImagingError) -> Picture {
        var frame: OpaquePointer?
        try session.check(darkroom_frame(c, Int32(index), &frame))
        return Picture(frame!, session)  // set by a successful call
    }

    /// A new animation with the delays of this one. All frames of the new animation have the size and the kind of
    /// `frame`; their pixels must be set by ``setFrame(_:to:)``.
    func animation(of frame: Picture) throws(ImagingError) -> Picture {
        var animation: OpaquePointer?
        try session.check(darkroom_new_animation(c, frame.c, &animation))
        return Picture(animation!, session)  // set by a successful call
    }

    func setFrame(_ index: Int, to frame: Picture) throws(ImagingError) {
        try session.check(darkroom_set_frame(c, Int32(index), frame.c))
    }

    // MARK: - Encoding

    func keepMetadata(_ kinds: Int32) throws(ImagingError) { try session.check(darkroom_keep_metadata(c, kinds)) }

    func encode(_ encoding: darkroom_encoding) throws(ImagingError) -> ImageFile {
        var file = darkroom_file()
        try withUnsafePointer(to: encoding) { encoding in
            Result { () throws(ImagingError) in try session.check(darkroom_encode(c, encoding, &file)) }
        }.get()
        return ImageFile(file)
    }
}

extension Colour {
    /// Red, green, blue and alpha, 0 to 255.
    var components: [Double] { [Double(red), Double(green), Double(blue), Double(alpha)] }

    var isGrey: Bool { red == green && green == blue }
}
