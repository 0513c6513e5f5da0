import DarkroomConcurrency
import DarkroomOrigins
import DarkroomTransfer

/// An origin whose photos are in memory.
final class MemoryOrigin: PhotoOrigin {
    private struct State {
        var photos: [String: [UInt8]]
        var fetches = 0
        var problem: TransferError?
    }

    private let state: Locked<State>

    init(_ photos: [String: [UInt8]] = [:]) { state = Locked(State(photos: photos)) }

    /// The number of fetches so far.
    var fetches: Int { state.withLock { $0.fetches } }

    /// Forbids all URLs.
    func forbid(_ problem: TransferError) { state.withLock { $0.problem = problem } }

    func problem(of url: String) -> TransferError? { state.withLock { $0.problem } }

    func fetch(_ request: PhotoRequest, completion: @escaping FetchCompletion) {
        guard request.mayBegin() else { return completion(.failure(.cancelled)) }
        let bytes = state.withLock { state in
            state.fetches += 1
            return state.photos[request.record.url]
        }
        guard let bytes else {
            return completion(.failure(TransferError(code: .fileNotFound, detail: "no such photo", attempts: 1)))
        }
        completion(.success(Download(body: bytes, attempts: 1, duration: .zero, way: [], time: nil)))
    }
}
