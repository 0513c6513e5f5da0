import DarkroomConcurrency
import DarkroomExecution
import DarkroomModel
import DarkroomOutput
import DarkroomTransfer
import DarkroomWorkerState
import Foundation

/// Where the bytes of photos come from whose batch has a folder of originals: that folder, else another source, whose bytes are
/// kept there before the photo counts as downloaded. For all other photos it is that other source.
///
/// DESIGN. Neither the thread of the transfers nor that which starts downloads may wait for a disk, and the filtrations' must
/// not either: a photo counts as downloaded when its file is there, also while filtrations are suspended. So files are
/// read and written on threads of its own.
final class OriginalsSource: PhotoSource {
    private let other: any PhotoSource
    private let rules: FetchRules
    private let threads = ThreadPool("darkroom-originals", maxThreads: 4)
    private let worker: String
    /// Tells the temporary files of one photo's runs apart.
    private let writes = Locked(0)
    private let isWaitedFor: @Sendable (OutputWriter.Failure, BatchContext) -> Bool

    /// The folders of originals, before `other`.
    /// - Parameters:
    ///   - rules: what may be fetched; what may not is not taken from a folder either.
    ///   - worker: the worker's id.
    ///   - isWaitedFor: told when bytes could not be kept; true lets the photo begin again later.
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
        // A text that is no URL has no file here. For `file:` URLs the folders of this worker decide.
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

    /// Keeps what was downloaded, and then passes it on.
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
                fence: photo.operation.fence, worker: "\(worker).\(number)")
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

/// A photo that is looked for in a folder first and may come from elsewhere then.
private final class StagedFetch: PhotoFetch {
    private struct State {
        var order: TransferOrder
        /// Where it comes from when it is not in the folder.
        var other: (any PhotoFetch)?
    }

    private let cancellation: CancellationToken
    private let state: Locked<State>

    init(_ cancellation: CancellationToken, _ order: TransferOrder) {
        self.cancellation = cancellation
        state = Locked(State(order: order))
    }

    /// Whether it was cancelled or withdrawn.
    var isOver: Bool { cancellation.level > .none }

    func stop(_ level: CancellationToken.Level) { state.withLock { $0.other }?.stop(level) }

    func reorder(_ order: TransferOrder) {
        let other = state.withLock { state in
            state.order = order
            return state.other
        }
        other?.reorder(order)
    }

    /// Goes on elsewhere; false when it is over.
    func begin(_ start: (TransferOrder) -> (any PhotoFetch)?) -> Bool {
        guard !isOver else { return false }
        let order = state.withLock { $0.order }
        guard let other = start(order) else { return true }
        let latest = state.withLock { state in
            state.other = other
            return state.order
        }
        // Both may have changed before `other` was set.
        if latest != order { other.reorder(latest) }
        other.stop(cancellation.level)
        return true
    }
}

extension TransferError {
    fileprivate static let cancelled = TransferError(code: .cancelled, detail: "cancelled", attempts: 0)
}
