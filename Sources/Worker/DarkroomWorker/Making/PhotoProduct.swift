import DarkroomImaging
import DarkroomModel
import DarkroomRecipes

/// A file that was made from a photo's bytes, in memory.
package struct PhotoProduct: Sendable {
    private enum Content {
        /// Made by the filters of Darkroom in this process.
        case image(DevelopedImage)
        /// Made by a custom filter or in a helper process.
        case bytes([UInt8])
    }

    private let content: Content
    /// The extension of the file, without the dot.
    package let ending: String
    /// The format; nil if the file was made by a custom filter.
    let format: ImageFormat?
    /// In pixels; nil if the file was made by a custom filter.
    package let width: Int?
    /// In pixels; nil if the file was made by a custom filter.
    package let height: Int?

    /// The defects of the photo that were tolerated; nil if there are none.
    package var note: String?
    /// Whether the photo has a gain map, and this file does not.
    package var lostGainMap = false

    /// Why no file was made. The reason is nil if the photo was cancelled.
    package struct Failure: Error {
        package let reason: FailureReason?
        package let detail: String

        package init(reason: FailureReason?, detail: String) {
            self.reason = reason
            self.detail = detail
        }

        /// The failure with the name of the rendition that failed; the name is left out if it is empty.
        func of(rendition: String) -> Failure {
            rendition.isEmpty ? self : Failure(reason: reason, detail: "rendition \(rendition): \(detail)")
        }

        /// The failure to read what a custom filter has printed.
        func of(resultOf filter: PhotoFilter.Custom) -> Failure {
            reason == nil
                ? self : Failure(reason: reason, detail: "the result of custom filter \(filter.name): \(detail)")
        }

        static let cancelled = Failure(reason: nil, detail: "cancelled")
    }

    init(_ image: DevelopedImage) {
        content = .image(image)
        ending = image.format.fileExtension
        format = image.format
        width = image.width
        height = image.height
        note = image.note
        lostGainMap = image.lostGainMap
    }

    init(_ bytes: [UInt8], ending: String, width: Int? = nil, height: Int? = nil) {
        content = .bytes(bytes)
        self.ending = ending
        format = nil
        self.width = width
        self.height = height
    }

    package var byteCount: Int {
        switch content {
        case .image(let image): image.byteCount
        case .bytes(let bytes): bytes.count
        }
    }

    /// The bytes of the file, copied if they do not belong to an array.
    var bytes: [UInt8] {
        switch content {
        case .image(let image): image.withUnsafeBytes { Array($0) }
        case .bytes(let bytes): bytes
        }
    }

    /// Calls `body` with the file's bytes. The pointer is valid only until `body` returns.
    package func withUnsafeBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch content {
        case .image(let image):
            return try image.withUnsafeBytes(body)
        case .bytes(let bytes):
            // The standard library's `withUnsafeBytes` does not keep the type of a thrown error.
            return try bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
        }
    }
}
