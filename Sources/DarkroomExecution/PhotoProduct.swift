import DarkroomImaging
import DarkroomModel
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// The file that was made from a photo's bytes, in memory.
package enum PhotoProduct {
    /// Made by the filters of Darkroom in this process.
    case image(DevelopedImage)
    /// Made by a custom operation or in a helper process. Width and height are set if filters made the image.
    case bytes([UInt8], ending: String, width: Int? = nil, height: Int? = nil)

    /// Why no file was made. The reason is nil if the photo was cancelled.
    package struct Failure: Error {
        package let reason: FailureReason?
        package let detail: String
    }

    /// Develops a photo in this process, with the custom operation of the batch or with filters. Blocks.
    package static func make(
        _ task: PhotoTask, _ recipe: PhotoRecipe, _ image: Download
    ) throws(Failure) -> PhotoProduct {
        let isCancelled = { @Sendable in task.cancellation.isCancelled }
        if let custom = recipe.custom {
            let time = recipe.develop.processorTime
            return try run(custom.make(), task.record, image.body, within: time, isCancelled: isCancelled)
        }
        return try make(image.body, recipe.develop, isCancelled: isCancelled)
    }

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

    /// Runs a custom operation. When the operation has used `time` of CPU time, `isCancelled` of its photo becomes
    /// true, so that the operation can stop.
    static func run(
        _ operation: any PhotoOperation, _ record: PhotoRecord, _ bytes: [UInt8], within time: Duration?,
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) throws(Failure) -> PhotoProduct {
        let clock = time.map { ProcessorClock(limit: $0) }
        let photo = DownloadedPhoto(record: record, bytes: bytes) { isCancelled() || clock?.check() == true }
        do {
            let bytes = try operation.main(photo)
            guard let clock, clock.isExhausted else { return .bytes(bytes, ending: CustomEnding.of(bytes, record)) }
            throw Failure(reason: .filterTimeout, detail: clock.problem)
        } catch let failure as Failure {
            throw failure
        } catch {
            // After a cancellation, any error means that the operation has stopped.
            if isCancelled() { throw Failure(reason: nil, detail: "cancelled") }
            if let clock, clock.isExhausted { throw Failure(reason: .filterTimeout, detail: clock.problem) }
            let text = (error as? any LocalizedError)?.errorDescription ?? "\(error)"
            throw Failure(reason: .filterFailed, detail: HelperAnswer.cut(text))
        }
    }

    package var width: Int? {
        switch self {
        case .image(let image): image.width
        case .bytes(_, _, let width, _): width
        }
    }

    package var height: Int? {
        switch self {
        case .image(let image): image.height
        case .bytes(_, _, _, let height): height
        }
    }

    package var byteCount: Int {
        switch self {
        case .image(let image): image.byteCount
        case .bytes(let bytes, _, _, _): bytes.count
        }
    }

    /// The extension of the file, without the dot.
    package var ending: String {
        switch self {
        case .image(let image): image.format.fileExtension
        case .bytes(_, let ending, _, _): ending
        }
    }

    /// Calls `body` with the file's bytes. The pointer is valid only until `body` returns.
    package func withUnsafeBytes<Value, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        switch self {
        case .image(let image):
            return try image.withUnsafeBytes(body)
        case .bytes(let bytes, _, _, _):
            // The standard library's `withUnsafeBytes` does not keep the type of a thrown error.
            return try bytes.withUnsafeBytes { bytes in Result { () throws(Failure) in try body(bytes) } }.get()
        }
    }
}
