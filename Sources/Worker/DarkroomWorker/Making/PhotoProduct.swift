import DarkroomImaging
import DarkroomModel
import DarkroomRecipes

/// A file that was made from a photo's bytes, in memory.
package struct PhotoProduct: Sendable {
    private enum Content {
        /// Made by the filters of Darkroom in this process.
        case image(ImageFile)
        /// Made by a custom filter or in a helper process.
        case bytes([UInt8])
    }

    /// The facts of a picture that Darkroom has encoded.
    package struct Picture: Sendable {
        package let format: ImageFormat
        /// In pixels.
        package let width: Int
        /// In pixels.
        package let height: Int
    }

    private let content: Content
    /// The file name extension, without the dot.
    package let ending: String
    /// Nil if the file was made by a custom filter.
    package let picture: Picture?

    /// The defects of the photo that were tolerated; nil if there are none.
    package var note: String?
    /// Whether the photo has a gain map, and this file does not.
    package var lostGainMap = false

    /// The failure to make a file. ``reason`` is nil if the photo was cancelled.
    package struct Failure: Error, CustomStringConvertible {
        package let reason: FailureReason?
        package let detail: String
        /// What failed, in few words.
        private let summary: String

        package init(reason: FailureReason?, detail: String, summary: String? = nil) {
            self.reason = reason
            self.detail = detail
            self.summary = summary ?? reason?.word ?? "cancelled"
        }

        init(_ error: ImagingError) {
            self.init(reason: FailureReason(error), detail: error.detail, summary: error.code.rawValue)
        }

        /// For example `damaged image: jpeg of 512 x 512 pixels: ...`.
        package var description: String { "\(summary): \(detail)" }

        /// The failure with the name of the rendition that failed; the name is left out if it is empty.
        func of(rendition: String) -> Failure {
            rendition.isEmpty
                ? self : Failure(reason: reason, detail: "rendition \(rendition): \(detail)", summary: summary)
        }

        /// The failure to develop the result of a custom filter.
        func of(resultOf filter: PhotoFilter.Custom) -> Failure {
            reason == nil
                ? self
                : Failure(
                    reason: reason, detail: "the result of custom filter \(filter.name): \(detail)", summary: summary)
        }

        static let cancelled = Failure(reason: nil, detail: "cancelled")
    }

    init(_ image: ImageFile) {
        content = .image(image)
        ending = image.format.fileExtension
        picture = Picture(format: image.format, width: image.width, height: image.height)
        note = image.note
        lostGainMap = image.lostGainMap
    }

    /// Creates a product from the file of a custom filter.
    init(_ bytes: [UInt8], ending: String) {
        content = .bytes(bytes)
        self.ending = ending
        picture = nil
    }

    /// Creates a product from the file of a helper process.
    init(_ bytes: [UInt8], _ picture: Picture) {
        content = .bytes(bytes)
        ending = picture.format.fileExtension
        self.picture = picture
    }

    /// A picture of the photo and this file side by side, see ``Imaging/compare(_:with:damage:)``.
    package func comparison(with photo: [UInt8], damage: DamageLevel) throws(Failure) -> PhotoProduct {
        do throws(ImagingError) {
            return try withUnsafeBytes { developed throws(ImagingError) in
                PhotoProduct(try Imaging.compare(photo, with: developed, damage: damage))
            }
        } catch {
            throw Failure(error)
        }
    }

    package var byteCount: Int {
        switch content {
        case .image(let image): image.byteCount
        case .bytes(let bytes): bytes.count
        }
    }

    /// The bytes of the file, copied if they are not in an array already.
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
