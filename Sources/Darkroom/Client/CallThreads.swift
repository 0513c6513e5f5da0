import DarkroomConcurrency
import Foundation

/// Threads for calls that block, so that no task's thread does.
///
/// All calls share one connection, in which they do not wait for one another; the threads bound how many are on their way.
final class CallThreads: Sendable {
    private let queue: OperationQueue

    init() {
        queue = OperationQueue()
        queue.name = "darkroom-client"
        queue.maxConcurrentOperationCount = 16
    }

    /// Runs `body` on one of the threads; a task that is cancelled does not wait for its end.
    func call<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        let answer = Answer<Result>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                answer.expect(continuation)
                queue.addOperation {
                    if !answer.isGiven { answer.give(Swift.Result(catching: body)) }
                }
            }
        } onCancel: {
            answer.give(.failure(CancellationError()))
        }
    }

    /// Runs `body` on one of the threads to its end.
    func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            queue.addOperation {
                body()
                continuation.resume()
            }
        }
    }
}

/// One answer to one task, whichever of several is given first.
final class Answer<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var value: Result<Value, any Error>?
    }

    private let state = Locked(State())

    /// True when there is one.
    var isGiven: Bool { state.withLock { $0.value != nil } }

    /// Takes who waits for it; the answer may be there already.
    func expect(_ continuation: CheckedContinuation<Value, any Error>) {
        let value = state.withLock { state in
            if state.value == nil { state.continuation = continuation }
            return state.value
        }
        if let value { continuation.resume(with: value) }
    }

    /// Gives the answer, unless there is one.
    func give(_ value: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: value)
    }
}
