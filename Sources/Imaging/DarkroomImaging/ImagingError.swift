internal import CImaging
import DarkroomRecipes

/// The failure to develop a picture. Another attempt with the same bytes can succeed only if the code is
/// ``Code/outOfMemory``.
package struct ImagingError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure. The raw value is a short text without variable parts.
    package enum Code: String, Sendable {
        /// The bytes are not a picture but, for example, an HTML page, text or a video, or there are no bytes.
        case notAnImage = "not an image"
        /// The picture has an unsupported format or kind.
        case unsupportedFormat = "unsupported image format"
        /// The file is truncated or corrupt.
        case damaged = "damaged image"
        /// According to its header, the picture has more pixels than ``DevelopOptions/maxPixels``.
        case tooManyPixels = "too many pixels"
        /// The system did not have enough memory for the picture.
        case outOfMemory = "out of memory"
        /// The picture was decoded, but could not be filtered or encoded.
        case filterFailed = "filter failed"
        /// `isCancelled` returned true.
        case cancelled
        /// The picture took more CPU time than ``DevelopOptions/processorTime``.
        case timedOut = "timed out"
    }

    package let code: Code
    /// What was found and, if possible, what to do.
    package let detail: String

    package var description: String { "\(code.rawValue): \(detail)" }

    /// The error with the name of the rendition that failed. The name is left out if it is empty, or if the photo
    /// cannot be decoded.
    func of(rendition: String) -> ImagingError {
        guard !rendition.isEmpty, code != .damaged, code != .unsupportedFormat else { return self }
        return ImagingError(code: code, detail: "rendition \(rendition): \(detail)")
    }
}

extension ImagingError {
    /// Converts the status of a C function that failed for bytes of `format`.
    init(
        status: darkroom_status, session: darkroom_session, format: ImageFormat, clock: ProcessorClock?
    ) {
        let size = session.width > 0 ? " of \(session.width) x \(session.height) pixels" : ""
        let found = "\(format.rawValue)\(size)"
        let message = withUnsafeBytes(of: session.detail) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let text = message.isEmpty ? found : "\(found): \(message)"
        switch status {
        case DARKROOM_DAMAGED:
            self.init(code: .damaged, detail: text)
        case DARKROOM_UNSUPPORTED:
            self.init(code: .unsupportedFormat, detail: text)
        case DARKROOM_TOO_MANY_PIXELS:
            self.init(code: .tooManyPixels, detail: "\(text), at most \(session.max_pixels) are allowed")
        case DARKROOM_OUT_OF_MEMORY:
            self.init(code: .outOfMemory, detail: "\(text): not enough memory; run fewer filtrations at once")
        case DARKROOM_CANCELLED:
            if let clock, clock.isExhausted {
                self.init(code: .timedOut, detail: "\(found): \(clock.problem)")
            } else {
                self.init(code: .cancelled, detail: found)
            }
        case DARKROOM_ROWS_TOO_LONG:
            self.init(
                code: .filterFailed, detail: "\(text): the picture is too wide to be blurred; make it smaller first")
        default:
            self.init(code: .filterFailed, detail: text)
        }
    }
}
