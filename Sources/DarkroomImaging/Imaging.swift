internal import CImaging

/// Decodes, filters and encodes pictures, from memory to memory.
///
/// JPEG to JPEG with filters that work pixel by pixel goes through libjpeg-turbo in strips of 16 rows, everything else
/// through libvips with one thread a picture. All functions may be called from any thread, any number at once.
public enum Imaging {
    /// Prepares libvips, once a process: only the loaders of ``ImageFormat`` can be reached.
    ///
    /// Developing does so by itself; calling this first shows early that it cannot be done.
    public static func start() throws(ImagingError) {
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

    /// Develops one picture; blocks until it is done.
    ///
    /// - Parameters:
    ///   - bytes: A file of any ``ImageFormat``, told from its content.
    ///   - options: What to make of it.
    ///   - isCancelled: Asked many times while pixels run, also from threads of libvips; after true the result is
    ///     ``ImagingError/Code/cancelled``. The encoders of WebP, AVIF, HEIC and JPEG XL finish what they began first.
    public static func develop(
        _ bytes: UnsafeRawBufferPointer, _ options: DevelopOptions = DevelopOptions(),
        isCancelled: @Sendable () -> Bool = { false }
    ) throws(ImagingError) -> DevelopedImage {
        try run(darkroom_develop, bytes, options, isCancelled: isCancelled)
    }

    /// Develops one picture that is an array.
    public static func develop(
        _ bytes: [UInt8], _ options: DevelopOptions = DevelopOptions(), isCancelled: @Sendable () -> Bool = { false }
    ) throws(ImagingError) -> DevelopedImage {
        try bytes.withBytes { bytes throws(ImagingError) in try develop(bytes, options, isCancelled: isCancelled) }
    }

    /// Frees what libvips keeps for the calling thread: threads that developed pictures call it before they end.
    public static func threadShutdown() {
        darkroom_imaging_thread_shutdown()
    }

    /// The version of the installed libvips.
    public static var vipsVersion: String { String(cString: darkroom_imaging_version()) }

    /// Whether the installed libvips can write the format; the first call for one writes a small picture.
    public static func canSave(_ format: ImageFormat) -> Bool {
        startError == nil && darkroom_imaging_can_save(format.c)
    }
}

extension Imaging {
    typealias Work = (UnsafePointer<darkroom_job>?, UnsafeMutablePointer<darkroom_result>?) -> darkroom_status

    /// Runs one of the C functions that take a job.
    static func run(
        _ work: Work, _ bytes: UnsafeRawBufferPointer, _ options: DevelopOptions, isCancelled: @Sendable () -> Bool
    ) throws(ImagingError) -> DevelopedImage {
        try start()
        let format = try format(of: bytes)
        var result = darkroom_result()
        let status = withoutActuallyEscaping(isCancelled) { isCancelled in
            options.filters.map(\.c).withUnsafeBufferPointer { filters in
                withUnsafePointer(to: CancelCheck(isCancelled: isCancelled)) { check in
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
                    job.is_cancelled = { context in
                        context!.assumingMemoryBound(to: CancelCheck.self).pointee.isCancelled()
                    }
                    job.context = UnsafeMutableRawPointer(mutating: check)
                    return work(&job, &result)
                }
            }
        }
        guard status == DARKROOM_DONE, let written = ImageFormat(result.format) else {
            throw ImagingError(status: status, result: result, format: format, maxPixels: options.maxPixels)
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
            throw ImagingError(code: .unsupportedFormat, detail: "found \(name); what can be read: \(readable)")
        case .notAnImage(let found):
            throw ImagingError(code: .notAnImage, detail: "found \(found) (\(bytes.count) bytes)")
        }
    }
}

extension [UInt8] {
    /// As `withUnsafeBytes`, which forgets the type of the error.
    func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(ImagingError) -> Value
    ) throws(ImagingError) -> Value {
        try withUnsafeBytes { bytes in
            Result { () throws(ImagingError) in try body(bytes) }
        }.get()
    }
}

/// What `darkroom_job.context` points to while the job runs.
private struct CancelCheck {
    let isCancelled: @Sendable () -> Bool
}

extension Filter {
    fileprivate var c: darkroom_filter {
        switch self {
        case .sepia(let intensity): darkroom_filter(kind: DARKROOM_SEPIA, amount: intensity)
        case .tiltShift(let radius): darkroom_filter(kind: DARKROOM_TILT_SHIFT, amount: radius)
        }
    }
}
