internal import CImaging

/// Why a picture was not developed. Trying the same bytes again helps only after ``Code/outOfMemory``.
package struct ImagingError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind {
            case notAnImage, unsupportedFormat, damaged, tooManyPixels, outOfMemory, filterFailed, cancelled, timedOut
        }

        private let kind: Kind

        /// The bytes are no picture at all: an HTML page, text, a video, nothing.
        package static let notAnImage = Code(kind: .notAnImage)
        /// A picture of a format or kind that is not read.
        package static let unsupportedFormat = Code(kind: .unsupportedFormat)
        /// Cut off or corrupt.
        package static let damaged = Code(kind: .damaged)
        /// The header names more pixels than ``DevelopOptions/maxPixels``.
        package static let tooManyPixels = Code(kind: .tooManyPixels)
        /// There was not enough memory for it.
        package static let outOfMemory = Code(kind: .outOfMemory)
        /// It was read, but could not be filtered or written.
        package static let filterFailed = Code(kind: .filterFailed)
        /// `isCancelled` said so.
        package static let cancelled = Code(kind: .cancelled)
        /// It took more than ``DevelopOptions/processorTime``.
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
    /// What was found, and what to do where something can be done.
    package let detail: String

    /// One line: the kind of failure and the detail.
    package var description: String { "\(code): \(detail)" }
}

extension ImagingError {
    /// The failure of a job on bytes of `format`, as the C side reports it.
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
            self.init(code: .outOfMemory, detail: "\(text) did not fit; run fewer filtrations at once")
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
