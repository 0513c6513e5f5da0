internal import CImaging

/// Decodes, filters and encodes pictures. Input and output are in memory.
///
/// JPEG to JPEG with per-pixel filters uses libjpeg-turbo, in strips of 16 rows. All other work uses libvips, with one
/// thread per picture. All functions may be called from any thread, even concurrently.
package enum Imaging {
    /// Initializes libvips once per process, and blocks all loaders except those of ``ImageFormat``.
    ///
    /// `develop` calls this function itself. A call at the start of the program reports a failure early.
    package static func start() throws(ImagingError) {
        if let error = startError { throw error }
    }

    private static let startError: ImagingError? = {
        var detail = [UInt8](repeating: 0, count: 256)
        let started = detail.withUnsafeMutableBytes {
            darkroom_imaging_start($0.assumingMemoryBound(to: CChar.self).baseAddress, $0.count)
        }
        if started { return nil }
        let reason = String(decoding: detail.prefix { $0 != 0 }, as: UTF8.self)
        return ImagingError(code: .filterFailed, detail: "libvips cannot be started: \(reason)")
    }()

    /// Develops a picture. Blocks until it is done.
    ///
    /// - Parameters:
    ///   - bytes: A file of any ``ImageFormat``, detected from its content.
    ///   - isCancelled: Called often while pixels are processed, also from threads of libvips. After it returns true,
    ///     the result is ``ImagingError/Code/cancelled``. Decoders that decode a whole picture in one step, and the
    ///     encoders of WebP, AVIF, HEIC and JPEG XL, stop only after their current step.
    ///     ``DevelopOptions/processorTime`` is checked at the same points.
    package static func develop(
        _ bytes: [UInt8], _ options: DevelopOptions = DevelopOptions(), isCancelled: @Sendable () -> Bool = { false }
    ) throws(ImagingError) -> DevelopedImage {
        try develop(bytes, options, sizeIsKnown: { _ in }, isCancelled: isCancelled)
    }

    /// - Parameter sizeIsKnown: Called with the number of pixels before decoding, possibly more than once.
    package static func develop(
        _ bytes: [UInt8], _ options: DevelopOptions, sizeIsKnown: @escaping (Int) -> Void,
        isCancelled: @Sendable () -> Bool
    ) throws(ImagingError) -> DevelopedImage {
        try bytes.withBytes { bytes throws(ImagingError) in
            try run(darkroom_develop, bytes, options, sizeIsKnown: sizeIsKnown, isCancelled: isCancelled)
        }
    }

    /// Whether `isCancelled` is called regularly, whatever the picture contains. libjpeg can stop at any row. The other
    /// libraries decode or encode whole pictures in one call.
    package static func canAlwaysStop(_ bytes: [UInt8], _ options: DevelopOptions) -> Bool {
        let isJPEG = bytes.withUnsafeBytes { ImageFormat(contentOf: $0) == .jpeg }
        return isJPEG && (options.format ?? .jpeg) == .jpeg
    }

    /// Frees libvips' memory for the calling thread. Threads that developed pictures must call this before they end.
    package static func threadShutdown() { darkroom_imaging_thread_shutdown() }

    package static var vipsVersion: String { String(cString: darkroom_imaging_version()) }

    /// Whether the installed libvips can write the format. The first call for a format writes a test picture.
    package static func canSave(_ format: ImageFormat) -> Bool {
        startError == nil && darkroom_imaging_can_save(format.c)
    }
}

extension Imaging {
    /// The largest number of filters in a chain. Each filter adds a level to libvips' recursion.
    private static let maxFilters = 100

    typealias Work = (UnsafePointer<darkroom_job>?, UnsafeMutablePointer<darkroom_result>?) -> darkroom_status

    /// Calls a C function that takes a job.
    static func run(
        _ work: Work, _ bytes: UnsafeRawBufferPointer, _ options: DevelopOptions,
        sizeIsKnown: @escaping (Int) -> Void = { _ in }, isCancelled: @Sendable () -> Bool
    ) throws(ImagingError) -> DevelopedImage {
        try start()
        let format = try format(of: bytes)
        guard options.filters.count <= maxFilters else {
            throw ImagingError(
                code: .filterFailed, detail: "\(options.filters.count) filters, at most \(maxFilters) are applied")
        }
        let clock = options.processorTime.map { ProcessorClock(limit: $0) }
        var result = darkroom_result()
        let status = withoutActuallyEscaping(isCancelled) { isCancelled in
            options.filters.map(\.c).withUnsafeBufferPointer { filters in
                let context = JobContext(
                    options: options, clock: clock, sizeIsKnown: sizeIsKnown, isCancelled: isCancelled)
                return withUnsafePointer(to: context) { context in
                    var job = darkroom_job()
                    job.bytes = bytes.bindMemory(to: UInt8.self).baseAddress
                    job.byte_count = bytes.count
                    job.from = format.c
                    job.to = options.format?.c ?? DARKROOM_SAME
                    job.filters = filters.baseAddress
                    job.filter_count = Int32(filters.count)
                    job.quality = Int32(options.quality)
                    job.strip = options.strip
                    job.max_pixels = Int64(options.maxPixels)
                    job.size_is_known = { context, pixels in
                        context!.assumingMemoryBound(to: JobContext.self).pointee.setSize(pixels: Int(pixels))
                    }
                    job.is_cancelled = { context in
                        context!.assumingMemoryBound(to: JobContext.self).pointee.isOver
                    }
                    job.context = UnsafeMutableRawPointer(mutating: context)
                    return work(&job, &result)
                }
            }
        }
        guard status == DARKROOM_DONE, let written = ImageFormat(result.format) else {
            throw ImagingError(
                status: status, result: result, format: format, maxPixels: options.maxPixels, clock: clock)
        }
        return DevelopedImage(
            format: written, width: Int(result.width), height: Int(result.height),
            bytes: UnsafeRawBufferPointer(start: result.bytes, count: result.byte_count))
    }

    private static func format(of bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageFormat {
        switch ContentType(of: bytes) {
        case .image(let format):
            return format
        case .otherImage(let name):
            let readable = ImageFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ImagingError(code: .unsupportedFormat, detail: "found \(name); supported formats: \(readable)")
        case .notAnImage(let found):
            throw ImagingError(code: .notAnImage, detail: "found \(found) (\(bytes.count) bytes)")
        }
    }
}

extension [UInt8] {
    /// Like `withUnsafeBytes`, but keeps the type of the error.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(ImagingError) -> Value
    ) throws(ImagingError) -> Value {
        try withUnsafeBytes { bytes in
            Result { () throws(ImagingError) in try body(bytes) }
        }.get()
    }
}

/// The object to which `darkroom_job.context` points while the job is running.
private struct JobContext {
    let options: DevelopOptions
    let clock: ProcessorClock?
    let sizeIsKnown: (Int) -> Void
    let isCancelled: @Sendable () -> Bool

    func setSize(pixels: Int) {
        if let limit = options.processorTime(pixels: pixels) { clock?.extend(to: limit) }
        sizeIsKnown(pixels)
    }

    var isOver: Bool { isCancelled() || clock?.check() == true }
}

extension Filter {
    fileprivate var c: darkroom_filter {
        switch self {
        case .sepia(let intensity): darkroom_filter(kind: DARKROOM_SEPIA, amount: intensity)
        case .tiltShift(let radius): darkroom_filter(kind: DARKROOM_TILT_SHIFT, amount: radius)
        }
    }
}
