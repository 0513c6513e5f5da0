import DarkroomImaging
import DarkroomModel
import DarkroomTransfer
import Foundation

/// The file that was made of a photo's bytes, in memory.
enum PhotoProduct {
    /// By the filters of Darkroom.
    case image(DevelopedImage)
    /// By an operation of one's own.
    case bytes([UInt8], ending: String)

    /// Why none was made; `reason` nil when the photo was cancelled.
    struct Failure: Error {
        let reason: FailureReason?
        let detail: String
    }

    /// The longest text of an error that is kept.
    private static let maxDetail = 1000

    /// Makes the product of a photo: by its batch's own operation where it has one, by filters otherwise. Blocks.
    static func make(_ photo: PhotoInProgress, _ image: Download) throws(Failure) -> PhotoProduct {
        if let makeOperation = photo.context.makeOperation {
            return try run(makeOperation(), photo, image)
        }
        do throws(ImagingError) {
            return .image(try Imaging.develop(image.body, photo.context.develop) { photo.cancelled.isSet })
        } catch {
            throw Failure(reason: FailureReason(error), detail: error.detail)
        }
    }

    private static func run(
        _ operation: any PhotoOperation, _ photo: PhotoInProgress, _ image: Download
    ) throws(Failure) -> PhotoProduct {
        let input = DownloadedPhoto(record: photo.record, bytes: image.body) { photo.cancelled.isSet }
        do {
            let bytes = try operation.main(input)
            return .bytes(bytes, ending: OwnEnding.of(bytes, photo.record))
        } catch {
            // Whatever it throws once it was told to stop means that it stopped.
            if photo.cancelled.isSet { throw Failure(reason: nil, detail: "cancelled") }
            let text = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
            throw Failure(reason: .filterFailed, detail: String(text.prefix(maxDetail)))
        }
    }

    var width: Int? { if case .image(let image) = self { image.width } else { nil } }
    var height: Int? { if case .image(let image) = self { image.height } else { nil } }

    var byteCount: Int {
        switch self {
        case .image(let image): image.byteCount
        case .bytes(let bytes, _): bytes.count
        }
    }

    /// The ending of its file's name, without the dot.
    var ending: String {
        switch self {
        case .image(let image): image.format.fileExtension
        case .bytes(_, let ending): ending
        }
    }

    /// Gives the file's bytes; the pointer is good only until `body` returns.
    func withUnsafeBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch self {
        case .image(let image):
            return try image.withUnsafeBytes(body)
        case .bytes(let bytes, _):
            // The library's own function forgets the type of the error.
            return try bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
        }
    }
}
