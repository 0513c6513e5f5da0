import DarkroomCoding
import DarkroomExecution
import DarkroomModel
import DarkroomOutput
import DarkroomText
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// Filters a photo's bytes and writes the result to the output folder.
enum PhotoDevelopment {
    /// Filters and writes one photo. Blocks until the file is written. Call it on a thread of the filtration queue.
    /// - Parameters:
    ///   - helpers: the helper processes that filter the photo; nil filters it in this process.
    ///   - temporaryName: the name of the temporary file; hidden and unique in the output folder.
    ///   - isWanted: called before the file gets its final name; if it returns false, the file is removed.
    ///   - isWaitedFor: called if the file could not be written; if it returns true, the photo is started again later.
    /// - Returns: nil if the photo was cancelled, is no longer wanted, or will be started again. No file is left.
    static func develop(
        _ photo: PhotoTask, _ image: Download, helpers: PhotoHelpers?, fileCalls: FileCalls, temporaryName: String,
        isWanted: @Sendable () -> Bool, isWaitedFor: @Sendable (OutputWriter.Failure) -> Bool
    ) -> PhotoOutcome? {
        guard !photo.cancellation.isCancelled else { return nil }
        let clock = ContinuousClock()
        let began = clock.now
        let developed: PhotoProduct
        do throws(PhotoProduct.Failure) {
            if let helpers {
                developed = try helpers.develop(photo, photo.context.recipe, image)
            } else {
                developed = try PhotoProduct.make(photo, photo.context.recipe, image)
            }
        } catch {
            guard let reason = error.reason else { return nil }
            return failure(photo, reason, error.detail, image)
        }
        let filtered = clock.now
        guard !photo.cancellation.isCancelled else { return nil }

        var line = ManifestLine(batch: photo.context.id, record: photo.record, state: .filtered)
        line.width = developed.width
        line.height = developed.height
        line.bytes = developed.byteCount
        line.downloadMilliseconds = image.duration.wholeMilliseconds
        line.filterMilliseconds = (filtered - began).wholeMilliseconds
        if let place = photo.context.output.place {
            let path = photo.context.output.path(of: photo.record, ending: developed.ending)
            line.file = path
            do throws(OutputWriter.Failure) {
                let isWritten = try fileCalls.run(for: photo.operation) { () throws(OutputWriter.Failure) in
                    do throws(OutputWriter.Failure) {
                        return try developed.withUnsafeBytes { bytes throws(OutputWriter.Failure) in
                            try OutputWriter.write(
                                bytes, to: path, in: place, temporaryName: temporaryName, isWanted: isWanted)
                        }
                    } catch {
                        // `isWaitedFor` also accesses the folder.
                        guard isWaitedFor(error) else { throw error }
                        return false
                    }
                }
                guard isWritten else { return nil }
                line.sha256 = Hexadecimal.text(developed.withUnsafeBytes { SHA256Digest.hash(of: $0) })
            } catch {
                return failure(photo, error.reason, error.detail, image)
            }
        }
        line.writeMilliseconds = (clock.now - filtered).wholeMilliseconds
        return PhotoOutcome(
            state: .filtered, line: line, bytesIn: image.transferredBytes, bytesOut: developed.byteCount)
    }

    /// The outcome of a photo that failed after its download.
    private static func failure(
        _ photo: PhotoTask, _ reason: FailureReason, _ detail: String, _ image: Download
    ) -> PhotoOutcome {
        var outcome = failure(photo, reason, detail)
        outcome.bytesIn = image.transferredBytes
        outcome.line.attempts = image.attempts
        outcome.line.downloadMilliseconds = image.duration.wholeMilliseconds
        return outcome
    }

    static func failure(_ photo: PhotoTask, _ reason: FailureReason, _ detail: String) -> PhotoOutcome {
        var line = ManifestLine(batch: photo.context.id, record: photo.record, state: .failed(reason))
        line.detail = detail
        return PhotoOutcome(state: .failed(reason), line: line)
    }
}
