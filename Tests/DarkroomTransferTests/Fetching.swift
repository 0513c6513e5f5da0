import DarkroomConcurrency
import Foundation

@testable import DarkroomTransfer

/// Helpers of the transfer tests.
extension TransferEngine {
    func fetch(_ url: String) async -> Result<Download, TransferError> {
        let started = Locked<Transfer?>(nil)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let transfer = start(url) { continuation.resume(returning: $0) }
                started.withLock { $0 = transfer }
            }
        } onCancel: {
            started.withLock { $0 }?.cancel()
        }
    }
}

extension TransferEngine {
    @discardableResult
    func start(
        _ url: String, order: TransferOrder = TransferOrder(), mayBegin: (@Sendable () -> Bool)?,
        waits: (@Sendable () -> Void)? = nil, completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> Transfer {
        let steps = TransferSteps(mayBegin: mayBegin, waits: { _, _ in waits?() })
        return start(url, order: order, steps: steps, completion: completion)
    }

    @discardableResult
    func start(
        _ url: String, order: TransferOrder = TransferOrder(), waits: @escaping @Sendable () -> Void,
        completion: @escaping @Sendable (Result<Download, TransferError>) -> Void
    ) -> Transfer {
        start(url, order: order, steps: TransferSteps(waits: { _, _ in waits() }), completion: completion)
    }
}

extension TransferConfiguration {
    /// A configuration for servers on this machine, without retries, so that each fault causes an error.
    static func local(_ change: (inout TransferConfiguration) -> Void = { _ in }) -> TransferConfiguration {
        var configuration = TransferConfiguration()
        configuration.allowPrivate = true
        configuration.perHost = 6
        configuration.retries = 0
        configuration.retryPauses = [.milliseconds(100)]
        configuration.patience = .zero
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

/// Collects values from other threads; `wait` returns when enough values have arrived.
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

    /// Waits until there are `count` values. At the time limit of the test, returns the values collected so far.
    func wait(for count: Int) async -> [Value] {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if state.values.count >= count || Task.isCancelled {
                        continuation.resume(returning: state.values)
                    } else {
                        state.waiter = (count, continuation)
                    }
                }
            }
        } onCancel: {
            state.withLock { state in
                state.waiter?.continuation.resume(returning: state.values)
                state.waiter = nil
            }
        }
    }
}
