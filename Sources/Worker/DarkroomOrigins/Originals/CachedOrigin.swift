import DarkroomFiles
import DarkroomModel
import DarkroomStorage
import DarkroomTransfer

/// An origin that keeps the bytes of photos in a batch's folder of originals. If the folder has a photo, the origin
/// reads it there. Otherwise the origin fetches the bytes from the inner origin, and writes them to the folder before
/// the fetch ends. The origin does not write bytes that replace unusable bytes (``BatchOriginals/Unusable``): the
/// worker writes such bytes after it has decoded them.
package struct CachedOrigin: PhotoOrigin {
    private let origin: any PhotoOrigin
    private let originals: BatchOriginals
    private let calls: OriginalsCalls
    private let isWaitedFor: @Sendable (StorageFault) -> Bool

    /// - Parameters:
    ///   - origin: the inner origin, for bytes that are not in the folder.
    ///   - originals: the folder of the batch.
    ///   - isWaitedFor: called when bytes could not be written; if it returns true, the photo is started again later.
    package init(
        _ origin: any PhotoOrigin, _ originals: BatchOriginals, _ calls: OriginalsCalls,
        isWaitedFor: @escaping @Sendable (StorageFault) -> Bool
    ) {
        self.origin = origin
        self.originals = originals
        self.calls = calls
        self.isWaitedFor = isWaitedFor
    }

    package func problem(of url: String) -> TransferError? { origin.problem(of: url) }

    package func fetch(_ request: PhotoRequest, completion: @escaping FetchCompletion) {
        let url = request.record.url, folder = originals.folder
        if let problem = problem(of: url) {
            return completion(.failure(request.mayBegin() ? problem : .cancelled))
        }
        guard !originals.isUnusable(request.record.index) else {
            return origin.fetch(request, completion: completion)
        }
        calls.perform(for: request.operation) {
            var isOver: Bool { request.cancellation.level > .none }
            guard !isOver else { return completion(.failure(.cancelled)) }
            let began = ContinuousClock.now
            do throws(SystemFailure) {
                if let (bytes, time) = try folder.read(url, calls.rules) {
                    let found = Download(found: bytes, duration: .now - began, time: time)
                    return completion(!isOver && request.mayBegin() ? .success(found) : .failure(.cancelled))
                }
            } catch {
                let detail = "its file in \(folder.path) has more than \(folder.maxBytes) bytes"
                return completion(.failure(TransferError(code: .tooLarge, detail: detail)))
            }
            guard !isOver else { return completion(.failure(.cancelled)) }
            origin.fetch(request) { keep($0, of: request, completion) }
        }
    }

    /// Writes the fetched bytes to the folder, and then completes the fetch.
    private func keep(
        _ result: Result<Download, TransferError>, of request: PhotoRequest, _ completion: @escaping FetchCompletion
    ) {
        guard case .success(let download) = result else { return completion(result) }
        calls.perform(for: request.operation) {
            guard !request.cancellation.isCancelled else { return completion(.failure(.cancelled)) }
            do throws(StorageFault) {
                try originals.folder.write(
                    download.body, of: request.record, by: download.way, time: download.time, for: request.operation,
                    writer: calls.nextWriter())
                completion(result)
            } catch {
                guard !isWaitedFor(error) else { return completion(.failure(.cancelled)) }
                let code = TransferError.Code.cannotKeep(isFull: error.isFull)
                completion(.failure(TransferError(code: code, detail: error.detail, attempts: download.attempts)))
            }
        }
    }
}
