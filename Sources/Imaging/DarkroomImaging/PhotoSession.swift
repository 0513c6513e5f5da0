internal import CImaging
import DarkroomRecipes

/// The facts and the callbacks that all pictures of one photo share. Used by one thread at a time, except for the
/// callback `isCancelled`, which libvips' threads call.
final class PhotoSession {
    let c: UnsafeMutablePointer<darkroom_session>
    private let context: UnsafeMutablePointer<Callbacks>
    private let clock: ProcessorClock?
    private let format: ImageFormat
    /// The number of pictures to which each filter is applied: the frames of an animation.
    var frames = 1

    private struct Callbacks {
        let sizeIsKnown: (Int) -> Void
        let isOver: @Sendable () -> Bool
    }

    /// A session without limits, which cannot be cancelled.
    static func unlimited(format: ImageFormat) -> PhotoSession {
        PhotoSession(format: format, maxPixels: .max, clock: nil, sizeIsKnown: { _ in }, isCancelled: { false })
    }

    /// - Parameters:
    ///   - maxStreamedPixels: See ``DevelopOptions/maxStreamedPixels``; nil for `maxPixels`.
    ///   - sizeIsKnown: Called with the number of pixels when the header has been read.
    ///   - isCancelled: Called often while pixels are processed.
    init(
        format: ImageFormat, maxPixels: Int, maxStreamedPixels: Int? = nil, clock: ProcessorClock?,
        sizeIsKnown: @escaping (Int) -> Void,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        self.format = format
        self.clock = clock
        context = .allocate(capacity: 1)
        context.initialize(
            to: Callbacks(sizeIsKnown: sizeIsKnown, isOver: { isCancelled() || clock?.check() == true }))
        c = .allocate(capacity: 1)
        c.initialize(to: darkroom_session())
        c.pointee.max_pixels = Int64(maxPixels)
        c.pointee.max_streamed_pixels = Int64(maxStreamedPixels ?? maxPixels)
        c.pointee.context = UnsafeMutableRawPointer(context)
        c.pointee.size_is_known = { context, pixels in
            context!.assumingMemoryBound(to: Callbacks.self).pointee.sizeIsKnown(Int(pixels))
        }
        c.pointee.is_cancelled = { context in
            context!.assumingMemoryBound(to: Callbacks.self).pointee.isOver()
        }
    }

    deinit {
        c.deinitialize(count: 1)
        c.deallocate()
        context.deinitialize(count: 1)
        context.deallocate()
    }

    /// The tolerated defects of the file; nil if there are none.
    var note: String? {
        let text = withUnsafeBytes(of: c.pointee.note) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return text.isEmpty ? nil : text
    }

    /// The interrupt for the operations on rasters.
    var interrupt: darkroom_interrupt {
        darkroom_interrupt(is_cancelled: c.pointee.is_cancelled, context: c.pointee.context)
    }

    /// Throws if the photo is cancelled or has exceeded its processor time.
    func checkCancellation() throws(ImagingError) {
        if context.pointee.isOver() { try check(DARKROOM_CANCELLED) }
    }

    /// Throws the error of a status other than `DARKROOM_DONE`.
    func check(_ status: darkroom_status) throws(ImagingError) {
        guard status == DARKROOM_DONE else {
            throw ImagingError(status: status, session: c.pointee, format: format, clock: clock)
        }
    }

    /// Throws if a filter would make more pixels, in all frames together, than allowed; otherwise reports the number of
    /// pixels.
    func checkSize(width: Int, height: Int) throws(ImagingError) {
        let (frame, overflows) = width.multipliedReportingOverflow(by: height)
        let (pixels, allOverflow) = frame.multipliedReportingOverflow(by: frames)
        guard !overflows, !allOverflow, pixels <= c.pointee.max_pixels else {
            let each = frames > 1 ? " in each of \(frames) frames" : ""
            throw ImagingError(
                code: .tooManyPixels,
                detail: "a filter would make \(width) x \(height) pixels\(each), at most \(c.pointee.max_pixels) are "
                    + "allowed")
        }
        context.pointee.sizeIsKnown(pixels)
    }

    /// A session for another picture of the same photo, such as a watermark.
    func other(format: ImageFormat, maxPixels: Int) -> PhotoSession {
        PhotoSession(
            format: format, maxPixels: maxPixels, clock: clock, sizeIsKnown: { _ in },
            isCancelled: context.pointee.isOver)
    }

    var outOfMemory: ImagingError {
        ImagingError(status: DARKROOM_OUT_OF_MEMORY, session: c.pointee, format: format, clock: clock)
    }
}
