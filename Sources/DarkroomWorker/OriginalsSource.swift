import DarkroomConcurrency
import DarkroomExecution
import DarkroomModel
import DarkroomOutput
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// The source of photos whose batch has a folder of originals. It reads a photo's bytes from that folder. If they are
/// not in the folder, it fetches them from another source and writes them to the folder before the photo counts as
/// downloaded. Photos of batches without a folder of originals come from the other source.
///
/// DESIGN. The thread of the transfers and the thread that starts downloads must not wait for a disk. The threads of
/// the filtrations cannot write the file: a photo counts as downloaded only after its file was written, even while
/// filtrations are suspended. So this source has threads of its own that read and write files.
final class OriginalsSource: PhotoSource {
    private let other: any PhotoSource
    private let rules: FetchRules
    private let threads = ThreadPool("darkroom-originals", maxThreads: 4)
    private let worker: String
    /// A counter that makes the temporary file names of a photo's attempts unique.
    private let writes = Locked(0)
    private let isWaitedFor: @Sendable (OutputWriter.Failure, BatchContext) -> Bool

    /// Creates a source that reads the folders of originals first, and then uses `other`.
    /// - Parameters:
    ///   - rules: the URLs that may be fetched. The rules also apply to bytes from a folder.
    ///   - worker: the worker's id.
    ///   - isWaitedFor: called when bytes could not be written; if it returns true, the photo is started again later.
    init(
        _ other: any PhotoSource, rules: FetchRules, worker: String,
        isWaitedFor: @escaping @Sendable (OutputWriter.Failure, BatchContext) -> Bool
    ) {
        self.other = other
        self.rules = rules
        self.worker = worker
        self.isWaitedFor = isWaitedFor
    }

    func fetch(
        _ photo: PhotoTask, order: TransferOrder, mayBegin: @escaping @Sendable () -> Bool,
        waits: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> (any PhotoFetch)? {
        let url = photo.record.url
        // A photo with an invalid URL has no original. For `file:` URLs the folders of --files-under decide.
        guard let folder = photo.context.output.originals, PhotoURL.check(url) == nil, !PhotoURL.isFile(url) else {
            return other.fetch(photo, order: order, mayBegin: mayBegin, waits: waits, completion: completion)
        }
        if let problem = rules.problem(of: url) {
            completion(.failure(mayBegin() ? problem : .cancelled))
            return nil
        }
        let fetch = StagedFetch(photo.cancellation, order)
        threads.perform { [self] in
            guard !fetch.isOver else { return completion(.failure(.cancelled)) }
            let began = ContinuousClock.now
            do throws(OriginalsFolder.Unusable) {
                if let bytes = try folder.read(url, rules) {
                    let download = Download(found: bytes, duration: .now - began)
                    return completion(!fetch.isOver && mayBegin() ? .success(download) : .failure(.cancelled))
                }
            } catch {
                let detail = "its file in \(folder.path) has more than \(folder.maxBytes) bytes"
                return completion(.failure(TransferError(code: .tooLarge, detail: detail, attempts: 0)))
            }
            let isBegun = fetch.begin { [self] order in
                other.fetch(photo, order: order, mayBegin: mayBegin, waits: waits) { [self] result in
                    keep(photo, result, in: folder, completion)
                }
            }
            if !isBegun { completion(.failure(.cancelled)) }
        }
        return fetch
    }

    /// Writes the downloaded bytes to the folder, and then completes the fetch.
    private func keep(
        _ photo: PhotoTask, _ result: Result<Download, TransferError>, in folder: OriginalsFolder,
        _ completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) {
        guard case .success(let download) = result else { return completion(result) }
        threads.perform { [self] in
            guard !photo.cancellation.isCancelled else { return completion(.failure(.cancelled)) }
            let number = writes.withLock { number in
                number += 1
                return number
            }
            let temporaryName = StaleFiles.temporaryName(
                for: OriginalsFolder.temporaryName(for: photo.record, of: photo.operation.batch),
                fencingToken: photo.operation.fencingToken, worker: "\(worker).\(number)")
            do throws(OutputWriter.Failure) {
                try folder.write(
                    download.body, of: photo.record.url, by: download.way, temporaryName: temporaryName)
                completion(result)
            } catch {
                guard !isWaitedFor(error, photo.context) else { return completion(.failure(.cancelled)) }
                let code = TransferError.Code.cannotKeep(isFull: error.reason == .diskFull)
                completion(.failure(TransferError(code: code, detail: error.detail, attempts: download.attempts)))
            }
        }
    }
}

/// A fetch that reads from a folder first and then from another source.
private final class StagedFetch: PhotoFetch {
    private struct State {
        var order: TransferOrder
        /// The fetch from the other source; nil unless the photo is not in the folder.
        var other: (any PhotoFetch)?
    }

    private let cancellation: CancellationToken
    private let state: Locked<State>

    init(_ cancellation: CancellationToken, _ order: TransferOrder) {
        self.cancellation = cancellation
        state = Locked(State(order: order))
    }

    /// Whether the photo was cancelled or withdrawn.
    var isOver: Bool { cancellation.level > .none }

    func stop(_ level: CancellationToken.Level) { state.withLock { $0.other }?.stop(level) }

    func reorder(_ order: TransferOrder) {
        let other = state.withLock { state in
            state.order = order
            return state.other
        }
        other?.reorder(order)
    }

    /// Starts the fetch from the other source. Returns false if the photo was cancelled or withdrawn.
    func begin(_ start: (TransferOrder) -> (any PhotoFetch)?) -> Bool {
        guard !isOver else { return false }
        let order = state.withLock { $0.order }
        guard let other = start(order) else { return true }
        let latest = state.withLock { state in
            state.other = other
            return state.order
        }
        // `reorder` or `stop` may have been called before `other` was set.
        if latest != order { other.reorder(latest) }
        other.stop(cancellation.level)
        return true
    }
}

extension TransferError {
    fileprivate static let cancelled = TransferError(code: .cancelled, detail: "cancelled", attempts: 0)
}
