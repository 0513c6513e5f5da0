internal import CImaging

/// The failure to develop a picture. Another attempt with the same bytes can succeed only after ``Code/outOfMemory``.
package struct ImagingError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind {
            case notAnImage, unsupportedFormat, damaged, tooManyPixels, outOfMemory, filterFailed, cancelled, timedOut
        }

        private let kind: Kind

        /// The bytes are not a picture. They are, for example, an HTML page, text or a video, or there are no bytes.
        package static let notAnImage = Code(kind: .notAnImage)
        /// The picture has an unsupported format or kind.
        package static let unsupportedFormat = Code(kind: .unsupportedFormat)
        /// The file is truncated or corrupt.
        package static let damaged = Code(kind: .damaged)
        /// According to its header, the picture has more pixels than ``DevelopOptions/maxPixels``.
        package static let tooManyPixels = Code(kind: .tooManyPixels)
        /// The system did not have enough memory for the picture.
        package static let outOfMemory = Code(kind: .outOfMemory)
        /// The picture was decoded, but could not be filtered or encoded.
        package static let filterFailed = Code(kind: .filterFailed)
        /// `isCancelled` returned true.
        package static let cancelled = Code(kind: .cancelled)
        /// The picture took more CPU time than ``DevelopOptions/processorTime``.
        package static let timedOut = Code(kind: .timedOut)

        /// A short text without variable parts.
        package var description: String {
            switch kind {
            case .notAnImage: "not an image"
            case .unsupportedFormat: "unsupported image format"
            case .damaged: "damaged image"
            case .tooManyPixels: "too many pixels"
            case .outOfMemory: "out of memory"
            case .filterFailed: "filter failed"
            case .cancelled: "cancelled"
            case .timedOut: "timed out"
            }
        }
    }

    /// The kind of failure.
    package let code: Code
    /// What was found and, if possible, what to do.
    package let detail: String

    /// The kind of failure and the detail, in one line.
    package var description: String { "\(code): \(detail)" }
}

extension ImagingError {
    /// Converts the result of a C function that failed for bytes of `format`.
    init(
        status: darkroom_status, result: darkroom_result, format: ImageFormat, maxPixels: Int, clock: ProcessorClock?
    ) {
        let size = result.width > 0 ? " of \(result.width) x \(result.height) pixels" : ""
        let found = "\(format.rawValue)\(size)"
        let message = withUnsafeBytes(of: result.detail) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let text = message.isEmpty ? found : "\(found): \(message)"
        switch status {
        case DARKROOM_DAMAGED:
            self.init(code: .damaged, detail: text)
        case DARKROOM_UNSUPPORTED:
            self.init(code: .unsupportedFormat, detail: text)
        case DARKROOM_TOO_MANY_PIXELS:
            self.init(code: .tooManyPixels, detail: "\(text), at most \(maxPixels) are allowed (--max-pixels)")
        case DARKROOM_OUT_OF_MEMORY:
            self.init(code: .outOfMemory, detail: "\(text): not enough memory; run fewer filtrations at once")
        case DARKROOM_CANCELLED:
            if let clock, clock.isExhausted {
                self.init(code: .timedOut, detail: "\(found): \(clock.problem)")
            } else {
                self.init(code: .cancelled, detail: found)
            }
        default:
            self.init(code: .filterFailed, detail: text)
        }
    }
}
