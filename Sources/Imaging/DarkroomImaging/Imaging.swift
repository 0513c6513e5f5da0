internal import CImaging
import DarkroomRecipes

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

    static let startError: ImagingError? = {
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
    ) throws(ImagingError) -> [ImageFile] {
        try develop(bytes, options, sizeIsKnown: { _ in }, isCancelled: isCancelled)
    }

    /// - Parameter sizeIsKnown: Called with the number of pixels before decoding, and before a filter makes a larger
    ///   picture; possibly more than once.
    package static func develop(
        _ bytes: [UInt8], _ options: DevelopOptions, sizeIsKnown: @escaping (Int) -> Void,
        isCancelled: @Sendable () -> Bool
    ) throws(ImagingError) -> [ImageFile] {
        try bytes.withBytes { bytes throws(ImagingError) in
            try withDecoder(bytes, options, sizeIsKnown: sizeIsKnown, isCancelled: isCancelled) {
                decoder throws(ImagingError) in
                try Development(decoder: decoder, photo: bytes, options: options).run()
            }
        }
    }

    /// Whether `isCancelled` is called regularly, whatever the picture contains. libjpeg can stop at any row, unless it
    /// needs several passes over the whole picture. The other libraries decode or encode whole pictures in one call.
    package static func canAlwaysStop(_ bytes: [UInt8], _ options: DevelopOptions) -> Bool {
        let isJPEG = bytes.withUnsafeBytes { ImageFormat(contentOf: $0) == .jpeg }
        return isJPEG
            && options.outputs.allSatisfy { output in
                output.encoding.isFormat(.jpeg) && !output.encoding.needsSeveralPassesOfJPEG
                    && output.filters.allSatisfy { $0.kind != .watermark }
            }
    }

    /// Frees libvips' memory for the calling thread. Threads that developed pictures must call this before they end.
    package static func threadShutdown() { darkroom_imaging_thread_shutdown() }

    /// The version of libheif; nil if libvips has loaded no libheif.
    package static var heifVersion: String? { darkroom_heif_version().map { String(cString: $0) } }

    /// Whether the installed libheif reads photos in which several pictures share an auxiliary picture, such as photos
    /// of iOS 18. True if there is no libheif.
    package static var readsSharedHEIF: Bool { darkroom_heif_reads_shared() }

    package static var vipsVersion: String { String(cString: darkroom_imaging_version()) }
}

extension Imaging {
    /// Calls `body` with a decoder for the bytes.
    static func withDecoder<Result>(
        _ bytes: UnsafeRawBufferPointer, _ options: DevelopOptions, sizeIsKnown: @escaping (Int) -> Void = { _ in },
        isCancelled: @Sendable () -> Bool, _ body: (Decoder) throws(ImagingError) -> Result
    ) throws(ImagingError) -> Result {
        try start()
        let format = try format(of: bytes)
        guard options.outputs.allSatisfy({ $0.filters.count <= PhotoFilter.maxCount }) else {
            throw ImagingError(code: .filterFailed, detail: "more than \(PhotoFilter.maxCount) filters")
        }
        let clock = options.processorTime.map { ProcessorClock(limit: $0) }
        return try withoutActuallyEscaping(isCancelled) { isCancelled in
            Swift.Result { () throws(ImagingError) in
                let session = PhotoSession(
                    format: format, maxPixels: options.maxPixels, maxStreamedPixels: options.maxStreamedPixels,
                    clock: clock,
                    sizeIsKnown: { pixels in
                        if let limit = options.processorTime(pixels: pixels) { clock?.extend(to: limit) }
                        sizeIsKnown(pixels)
                    }, isCancelled: isCancelled)
                return try Decoder(
                    bytes: bytes, format: format, session: session, damage: options.damage,
                    keepsAnimation: options.keepsAnimation && options.outputs.contains { $0.canMove(from: format) }
                ).mended(body)
            }
        }.get()
    }

    static func format(of bytes: UnsafeRawBufferPointer) throws(ImagingError) -> ImageFormat {
        switch ContentType(of: bytes) {
        case .image(let format):
            return format
        case .otherImage(let name):
            let readable = ImageFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw ImagingError(code: .unsupportedFormat, detail: "found \(name); supported formats: \(readable)")
        case .cameraRaw(let name):
            throw ImagingError(
                code: .unsupportedFormat,
                detail: "found \(name), a raw format of cameras; convert it to JPEG or TIFF with a raw converter first")
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
