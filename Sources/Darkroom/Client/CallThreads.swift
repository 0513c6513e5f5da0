import DarkroomConcurrency
import Foundation

/// Threads for short calls that block, so that no thread of Swift's tasks does.
///
/// All calls share one connection, in which they do not wait for one another. The number of threads bounds how many run at once.
final class CallThreads: Sendable {
    private let queue: OperationQueue

    init() {
        queue = OperationQueue()
        queue.name = "darkroom-client"
        queue.maxConcurrentOperationCount = 16
    }

    /// Runs `body` on one of the threads. A cancelled task does not wait for its end.
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

/// One answer for one task: the first that is given.
final class Answer<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var value: Result<Value, any Error>?
    }

    private let state = Locked(State())

    /// True if there is one.
    var isGiven: Bool { state.withLock { $0.value != nil } }

    /// Waits for the answer that `begin` causes. A cancelled task gets `CancellationError` at once.
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

    /// Gives the answer unless there is one.
    func give(_ value: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(with: value)
    }

    /// Resumes `continuation` with the answer, which may be there already.
    private func expect(_ continuation: CheckedContinuation<Value, any Error>) {
        let value = state.withLock { state in
            if state.value == nil { state.continuation = continuation }
            return state.value
        }
        if let value { continuation.resume(with: value) }
    }
}
