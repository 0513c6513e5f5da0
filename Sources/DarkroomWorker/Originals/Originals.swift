import DarkroomConcurrency
import DarkroomModel
import DarkroomTransfer
import Foundation

/// Looks for photos' bytes in the folder of originals before they are downloaded, and keeps there what was downloaded, for
/// batches that have such a folder.
///
/// DESIGN. Neither the thread of the transfers nor that which starts downloads may wait for a disk, and the filtrations' must
/// not either: a photo counts as downloaded when its file is there, also while filtrations are suspended. So files are
/// read and written on threads of its own, between the transfer and the end of the download.
final class Originals: Sendable {
    /// What becomes of a photo's download.
    typealias Answer = @Sendable (Result<Download, TransferError>) -> Void

    private let threads = ThreadPool("darkroom-originals", maxThreads: 4)
    private let worker: String
    /// Tells the temporary files of one photo's runs apart.
    private let writes = Locked(0)

    init(worker: String) { self.worker = worker }

    /// Looks for a photo's bytes. The answer is nil when they are to be downloaded; then it comes before this returns
    /// where the batch has no originals, and on another thread where it has.
    func find(_ photo: PhotoInProgress, answer: @escaping @Sendable (Result<Download, TransferError>?) -> Void) {
        guard let folder = photo.context.originals else { return answer(nil) }
        threads.perform {
            guard !photo.cancelled.isSet else { return answer(.failure(.cancelled)) }
            let began = ContinuousClock.now
            do throws(OriginalsFolder.Unusable) {
                guard let bytes = try folder.read(photo.record.url) else { return answer(nil) }
                answer(.success(Download(found: bytes, duration: .now - began)))
            } catch {
                let detail = "its file in \(folder.path) has more than \(folder.maxBytes) bytes"
                answer(.failure(TransferError(code: .tooLarge, detail: detail, attempts: 0)))
            }
        }
    }

    /// Keeps what was downloaded, and then passes it on; without originals, and without a download, at once.
    func keep(
        _ photo: PhotoInProgress, _ result: Result<Download, TransferError>, answer: @escaping Answer
    ) {
        guard let folder = photo.context.originals, case .success(let download) = result else { return answer(result) }
        threads.perform { [self] in
            guard !photo.cancelled.isSet else { return answer(.failure(.cancelled)) }
            let number = writes.withLock { number in
                number += 1
                return number
            }
            let temporaryName = Leftovers.temporaryName(
                for: OriginalsFolder.temporaryName(for: photo.record, of: photo.operation.batch),
                fence: photo.operation.fence, worker: "\(worker)-\(number)")
            do throws(OutputWriter.Failure) {
                try folder.write(download.body, of: photo.record.url, temporaryName: temporaryName)
                answer(result)
            } catch {
                let code = TransferError.Code.cannotKeep(isFull: error.reason == .diskFull)
                answer(.failure(TransferError(code: code, detail: error.detail, attempts: download.attempts)))
            }
        }
    }
}

extension TransferError {
    fileprivate static let cancelled = TransferError(code: .cancelled, detail: "cancelled", attempts: 0)
}
