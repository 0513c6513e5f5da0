import DarkroomConcurrency
import Foundation

/// Threads for short blocking calls, so that no thread of Swift's tasks blocks.
///
/// All calls share one connection, on which they do not wait for each other. The number of threads is the limit of concurrent
/// calls.
final class CallThreads: Sendable {
    private let queue: OperationQueue

    init() {
        queue = OperationQueue()
        queue.name = "darkroom-client"
        queue.maxConcurrentOperationCount = 16
    }

    /// Runs `body` on one of the threads. A cancelled task does not wait for the end of `body`.
    func call<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await Answer.of { answer in
            queue.addOperation {
                if !answer.isGiven { answer.give(Result(catching: body)) }
            }
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

/// The result for one waiting task. Only the first result counts.
final class Answer<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var value: Result<Value, any Error>?
    }

    private let state = Locked(State())

    var isGiven: Bool { state.withLock { $0.value != nil } }

    /// Calls `begin` and waits for the result. A cancelled task gets `CancellationError` at once.
    static func of(_ begin: (Answer) -> Void) async throws -> Value {
        let answer = Answer()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                answer.expect(continuation)
                begin(answer)
            }
        } onCancel: {
            answer.give(.failure(CancellationError()))
        }
    }

    /// Sets the result, unless there is one already.
    func give(_ value: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: value)
    }

    /// Resumes `continuation` with the result, which may be set already.
    private func expect(_ continuation: CheckedContinuation<Value, any Error>) {
        let value = state.withLock { state in
            if state.value == nil { state.continuation = continuation }
            return state.value
        }
        if let value { continuation.resume(with: value) }
    }
}
