import DarkroomImaging
import DarkroomModel
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// The file that was made of a photo's bytes, in memory.
enum PhotoProduct {
    /// By the filters of Darkroom.
    case image(DevelopedImage)
    /// By an operation of one's own, or in a helper process: width and height are those of a picture.
    case bytes([UInt8], ending: String, width: Int? = nil, height: Int? = nil)

    /// Why none was made; `reason` nil when the photo was cancelled.
    struct Failure: Error {
        let reason: FailureReason?
        let detail: String
    }

    /// The longest text of an error that is kept.
    private static let maxDetail = 1000

    /// Makes the product of a photo: in a helper process where there is one for it, else by its batch's own operation, or by
    /// filters. Blocks.
    static func make(_ photo: PhotoTask, _ image: Download, _ helpers: PhotoHelpers?) throws(Failure)
        -> PhotoProduct
    {
        if let helpers { return try helpers.develop(photo, image) }
        let isCancelled = { @Sendable in photo.cancellation.isCancelled }
        if let own = photo.context.ownOperation {
            let time = photo.context.develop.processorTime
            return try run(own.make(), photo.record, image.body, within: time, isCancelled: isCancelled)
        }
        return try make(image.body, photo.context.develop, isCancelled: isCancelled)
    }

    /// Makes a picture of the bytes of another.
    static func make(
        _ bytes: [UInt8], _ options: DevelopOptions, sizeIsKnown: @escaping (Int) -> Void = { _ in },
        isCancelled: @Sendable () -> Bool = { false }
    ) throws(Failure) -> PhotoProduct {
        do throws(ImagingError) {
            return .image(
                try Imaging.develop(bytes, options, sizeIsKnown: sizeIsKnown, isCancelled: isCancelled))
        } catch {
            throw Failure(reason: FailureReason(error), detail: error.detail)
        }
    }

    /// Runs an operation of one's own. One that has taken more than `time` is told to stop, as if its photo were cancelled.
    static func run(
        _ operation: any PhotoOperation, _ record: PhotoRecord, _ bytes: [UInt8], within time: Duration?,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> PhotoProduct {
        let clock = time.map { ProcessorClock(limit: $0) }
        let photo = DownloadedPhoto(record: record, bytes: bytes) { isCancelled() || clock?.check() == true }
        do {
            let bytes = try operation.main(photo)
            guard let clock, clock.isExhausted else { return .bytes(bytes, ending: OwnEnding.of(bytes, record)) }
            throw Failure(reason: .filterTimeout, detail: clock.problem)
        } catch let failure as Failure {
            throw failure
        } catch {
            // Whatever it throws once it was told to stop means that it stopped.
            if isCancelled() { throw Failure(reason: nil, detail: "cancelled") }
            if let clock, clock.isExhausted { throw Failure(reason: .filterTimeout, detail: clock.problem) }
            let text = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
            throw Failure(reason: .filterFailed, detail: String(text.prefix(maxDetail)))
        }
    }

    var width: Int? {
        switch self {
        case .image(let image): image.width
        case .bytes(_, _, let width, _): width
        }
    }

    var height: Int? {
        switch self {
        case .image(let image): image.height
        case .bytes(_, _, _, let height): height
        }
    }

    var byteCount: Int {
        switch self {
        case .image(let image): image.byteCount
        case .bytes(let bytes, _, _, _): bytes.count
        }
    }

    /// The ending of its file's name, without the dot.
    var ending: String {
        switch self {
        case .image(let image): image.format.fileExtension
        case .bytes(_, let ending, _, _): ending
        }
    }

    /// Gives the file's bytes; the pointer is good only until `body` returns.
    func withUnsafeBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch self {
        case .image(let image):
            return try image.withUnsafeBytes(body)
        case .bytes(let bytes, _, _, _):
            // The library's own function forgets the type of the error.
            return try bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
        }
    }
}
