import DarkroomConcurrency
import Foundation

/// Threads for short blocking calls, so that the threads of Swift concurrency are not blocked.
///
/// All calls share one connection, and run on it concurrently. Each thread runs one call at a time.
final class CallThreads: Sendable {
    private let queue: OperationQueue

    init() {
        queue = OperationQueue()
        queue.name = "darkroom-client"
        queue.maxConcurrentOperationCount = 16
    }

    /// Runs `body` on one of the threads. If the task is cancelled, the call does not wait until `body` has ended.
    func call<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await Answer.of { answer in
            queue.addOperation {
                if !answer.isGiven { answer.give(Result(catching: body)) }
            }
        }
    }

    /// Runs `body` on one of the threads, and waits until it has ended, even if the task is cancelled.
    func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            queue.addOperation {
                body()
                continuation.resume()
            }
        }
    }
}

/// A result that one task waits for. Only the first result counts.
final class Answer<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var value: Result<Value, any Error>?
    }

    private let state = Locked(State())

    var isGiven: Bool { state.withLock { $0.value != nil } }

    /// Calls `begin` and waits for the result. If the task is cancelled, throws `CancellationError` at once.
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

    /// Sets the result, unless it has already been set.
    func give(_ value: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: value)
    }

    /// Resumes `continuation` as soon as the result is set; at once if it is already set.
    private func expect(_ continuation: CheckedContinuation<Value, any Error>) {
        let value = state.withLock { state in
            if state.value == nil { state.continuation = continuation }
            return state.value
        }
        if let value { continuation.resume(with: value) }
    }
}
