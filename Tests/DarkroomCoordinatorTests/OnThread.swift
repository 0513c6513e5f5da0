import DarkroomConcurrency
import Foundation

/// Runs a blocking function on its own thread. A task would block one of the few threads that run the tests.
final class OnThread<Value: Sendable>: Sendable {
    private let result = Locked<Result<Value, any Error>?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Value) {
        Thread { [self] in
            let outcome = Result { try body() }
            result.withLock { $0 = outcome }
            ended.signal()
        }.start()
    }

    /// The result of the function; nil if it does not return within 60 s.
    func value() throws -> Value? {
        guard ended.wait(timeout: .now() + 60) == .success else { return nil }
        return try result.withLock { $0 }?.get()
    }
}
