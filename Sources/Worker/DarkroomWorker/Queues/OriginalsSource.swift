import DarkroomConcurrency
import DarkroomFiles
import DarkroomModel
import DarkroomOrigins
import DarkroomStorage
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// The source from which a worker gets the bytes of its photos. It reads a photo's bytes from the batch's folder of
/// originals. If they are not there, it fetches them from the photo's URL and writes them to the folder before the
/// photo counts as downloaded. Photos of batches without such a folder always come from their URL. Bytes that replace
/// those of ``BatchContext/unusableOriginals`` are written after they were decoded.
///
/// DESIGN. The thread of the transfers and the thread that starts downloads must not wait for a disk. The threads of
/// the filtrations cannot write the file: a photo counts as downloaded only after its file was written, even while
/// filtrations are suspended. Therefore this source has its own threads, which read and write files.
final class OriginalsSource: PhotoSource {
    private let engine: TransferEngine
    private let rules: FetchRules
    private let threads = ThreadPool("darkroom-originals", maxThreads: 4)
    private let fileCalls: FileCalls
    private let worker: String
    /// A counter that gives each attempt of a photo its own temporary file name.
    private let writes = Locked(0)
    private let isWaitedFor: @Sendable (StorageFault, BatchContext) -> Bool

    /// - Parameters:
    ///   - engine: fetches from the network, and from `file:` URLs.
    ///   - rules: the URLs that may be fetched. The rules also apply to bytes from a folder.
    ///   - worker: the worker's id.
    ///   - isWaitedFor: called when bytes could not be written; if it returns true, the photo is started again later.
    init(
        _ engine: TransferEngine, rules: FetchRules, fileCalls: FileCalls, worker: String,
        isWaitedFor: @escaping @Sendable (StorageFault, BatchContext) -> Bool
    ) {
        self.engine = engine
        self.rules = rules
        self.fileCalls = fileCalls
        self.worker = worker
        self.isWaitedFor = isWaitedFor
    }

    func fetch(for download: ImageDownloader) {
        let photo = download.photo, url = photo.record.url
        if let problem = PhotoURL.check(url) {
            let code: TransferError.Code =
                !download.mayBegin() ? .cancelled : problem.reason == .schemeDenied ? .schemeDenied : .notAURL
            return download.end(.failure(TransferError(code: code, detail: problem.detail)))
        }
        // For `file:` URLs the folders of --files-under decide.
        guard let folder = photo.context.originals, !PhotoURL.isFile(url) else {
            return transfer(download, download.end)
        }
        if let problem = rules.problem(of: url) {
            return download.end(.failure(download.mayBegin() ? problem : .cancelled))
        }
        guard photo.context.unusableOriginals.withLock({ $0[photo.record.index] }) == nil else {
            return transfer(download, download.end)
        }
        perform(for: photo) { [self] in
            var isOver: Bool { photo.cancellation.level > .none }
            guard !isOver else { return download.end(.failure(.cancelled)) }
            let began = ContinuousClock.now
            do throws(SystemFailure) {
                if let (bytes, time) = try folder.read(url, rules) {
                    let found = Download(found: bytes, duration: .now - began, time: time)
                    return download.end(!isOver && download.mayBegin() ? .success(found) : .failure(.cancelled))
                }
            } catch {
                let detail = "its file in \(folder.path) has more than \(folder.maxBytes) bytes"
                return download.end(.failure(TransferError(code: .tooLarge, detail: detail)))
            }
            guard !isOver else { return download.end(.failure(.cancelled)) }
            transfer(download) { [self] in keep(photo, $0, in: folder, download.end) }
        }
    }

    /// Runs `body`, which accesses the folder of originals, on a thread of this source. The call also counts as hanging
    /// while it waits for a thread, because calls may hang on all threads.
    private func perform(for photo: RunningPhoto, _ body: @escaping @Sendable () -> Void) {
        let call = fileCalls.begin(.download, of: photo.operation)
        threads.perform { [fileCalls] in
            body()
            fileCalls.end(call)
        }
    }

    private func transfer(
        _ download: ImageDownloader, _ completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) {
        download.begin { order in
            engine.start(
                download.photo.record.url, order: order, steps: download.steps, history: download.photo.task.history,
                completion: completion)
        }
    }

    /// Writes the downloaded bytes to the folder, and then completes the fetch.
    private func keep(
        _ photo: RunningPhoto, _ result: Result<Download, TransferError>, in folder: OriginalsFolder,
        _ completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) {
        guard case .success(let download) = result else { return completion(result) }
        perform(for: photo) { [self] in
            guard !photo.cancellation.isCancelled else { return completion(.failure(.cancelled)) }
            let number = writes.withLock { number in
                number += 1
                return number
            }
            do throws(StorageFault) {
                try folder.write(
                    download.body, of: photo.record, by: download.way, time: download.time, for: photo.operation,
                    writer: "\(worker).\(number)")
                completion(result)
            } catch {
                guard !isWaitedFor(error, photo.context) else { return completion(.failure(.cancelled)) }
                let code = TransferError.Code.cannotKeep(isFull: error.isFull)
                completion(.failure(TransferError(code: code, detail: error.detail, attempts: download.attempts)))
            }
        }
    }
}

extension TransferError {
    fileprivate static let cancelled = TransferError(code: .cancelled, detail: "cancelled")
}
