import DarkroomConcurrency
import Foundation

@testable import DarkroomTransfer

/// What tests ask of every transfer.
extension TransferEngine {
    func fetch(_ url: String) async -> Result<Download, TransferError> {
        await withCheckedContinuation { continuation in
            start(url) { continuation.resume(returning: $0) }
        }
    }
}

extension TransferConfiguration {
    /// For servers on this machine; without further attempts, so that each fault shows.
    static func local(_ change: (inout TransferConfiguration) -> Void = { _ in }) -> TransferConfiguration {
        var configuration = TransferConfiguration()
        configuration.allowPrivate = true
        configuration.retries = 0
        change(&configuration)
        return configuration
    }
}

extension Result where Success == Download, Failure == TransferError {
    var body: [UInt8]? { try? get().body }

    var error: TransferError? {
        if case .failure(let error) = self { error } else { nil }
    }
}

/// Collects results that come on other threads and tells when there are enough.
final class Collected<Value: Sendable>: Sendable {
    private struct State {
        var values: [Value] = []
        var waiter: (count: Int, continuation: CheckedContinuation<[Value], Never>)?
    }

    private let state = Locked(State())

    func add(_ value: Value) {
        state.withLock { state in
            state.values.append(value)
            if let waiter = state.waiter, state.values.count >= waiter.count {
                state.waiter = nil
                waiter.continuation.resume(returning: state.values)
            }
        }
    }

    var values: [Value] { state.withLock { $0.values } }

    /// Waits until there are `count` values; the test's own time limit bounds it.
    func wait(for count: Int) async -> [Value] {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if state.values.count >= count {
                    continuation.resume(returning: state.values)
                } else {
                    state.waiter = (count, continuation)
                }
            }
        }
    }
}
