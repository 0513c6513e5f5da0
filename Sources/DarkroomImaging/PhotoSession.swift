internal import CImaging
import DarkroomRecipes

/// The facts and the callbacks that all pictures of one photo share. Used by one thread at a time, except for the
/// callback `isCancelled`, which libvips' threads call.
final class PhotoSession {
    let c: UnsafeMutablePointer<darkroom_session>
    private let context: UnsafeMutablePointer<Callbacks>
    private let clock: ProcessorClock?
    private let format: ImageFormat

    private struct Callbacks {
        let sizeIsKnown: (Int) -> Void
        let isOver: @Sendable () -> Bool
    }

    /// - Parameters:
    ///   - sizeIsKnown: Called with the number of pixels when the header has been read.
    ///   - isCancelled: Called often while pixels are processed.
    init(
        format: ImageFormat, maxPixels: Int, clock: ProcessorClock?, sizeIsKnown: @escaping (Int) -> Void,
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

    /// The interrupt for the operations on rasters.
    var interrupt: darkroom_interrupt {
        darkroom_interrupt(is_cancelled: c.pointee.is_cancelled, context: c.pointee.context)
    }

    /// Throws the error of a status other than `DARKROOM_DONE`.
    func check(_ status: darkroom_status) throws(ImagingError) {
        guard status == DARKROOM_DONE else {
            throw ImagingError(status: status, session: c.pointee, format: format, clock: clock)
        }
    }

    /// Throws if a filter would make a picture with more pixels than allowed; otherwise reports its size.
    func checkSize(width: Int, height: Int) throws(ImagingError) {
        let (pixels, overflows) = width.multipliedReportingOverflow(by: height)
        guard !overflows, pixels <= c.pointee.max_pixels else {
            throw ImagingError(
                code: .tooManyPixels,
                detail: "a filter would make \(width) x \(height) pixels, at most \(c.pointee.max_pixels) are allowed "
                    + "(--max-pixels)")
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
