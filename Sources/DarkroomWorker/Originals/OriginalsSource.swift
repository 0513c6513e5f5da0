import DarkroomConcurrency
import DarkroomModel
import DarkroomTransfer
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
        _ photo: PhotoInProgress, order: TransferOrder, mayBegin: @escaping @Sendable () -> Bool,
        waits: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> (any PhotoFetch)? {
        let url = photo.record.url
        // A text that is no URL has no file here. For `file:` URLs the folders of this worker decide.
        guard let folder = photo.context.originals, PhotoURL.check(url) == nil, !PhotoURL.isFile(url) else {
            return other.fetch(photo, order: order, mayBegin: mayBegin, waits: waits, completion: completion)
        }
        if let problem = rules.problem(of: url) {
            completion(.failure(mayBegin() ? problem : .cancelled))
            return nil
        }
        let fetch = StagedFetch(order)
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
        _ photo: PhotoInProgress, _ result: Result<Download, TransferError>, in folder: OriginalsFolder,
        _ completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) {
        guard case .success(let download) = result else { return completion(result) }
        threads.perform { [self] in
            guard !photo.cancelled.isSet else { return completion(.failure(.cancelled)) }
            let number = writes.withLock { number in
                number += 1
                return number
            }
            let temporaryName = Leftovers.temporaryName(
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

/// A photo that is looked for in a folder first and may come from elsewhere then.
private final class StagedFetch: PhotoFetch {
    private struct State {
        var order: TransferOrder
        var isCancelled = false
        var isWithdrawn = false
        /// Where it comes from when it is not in the folder.
        var other: (any PhotoFetch)?
    }

    private let state: Locked<State>

    init(_ order: TransferOrder) { state = Locked(State(order: order)) }

    /// Whether it was cancelled or withdrawn.
    var isOver: Bool { state.withLock { $0.isCancelled || $0.isWithdrawn } }

    func cancel() {
        let other = state.withLock { state in
            state.isCancelled = true
            return state.other
        }
        other?.cancel()
    }

    func withdraw() {
        let other = state.withLock { state in
            state.isWithdrawn = true
            return state.other
        }
        other?.withdraw()
    }

    func reorder(_ order: TransferOrder) {
        let other = state.withLock { state in
            state.order = order
            return state.other
        }
        other?.reorder(order)
    }

    /// Goes on elsewhere; false when nobody wants it any more.
    func begin(_ start: (TransferOrder) -> (any PhotoFetch)?) -> Bool {
        let (order, isOver) = state.withLock { ($0.order, $0.isCancelled || $0.isWithdrawn) }
        guard !isOver else { return false }
        guard let other = start(order) else { return true }
        let latest = state.withLock { state in
            state.other = other
            return state
        }
        // Any of these may have come between the lines before.
        if latest.order != order { other.reorder(latest.order) }
        if latest.isWithdrawn { other.withdraw() }
        if latest.isCancelled { other.cancel() }
        return true
    }
}

extension TransferError {
    fileprivate static let cancelled = TransferError(code: .cancelled, detail: "cancelled", attempts: 0)
}
