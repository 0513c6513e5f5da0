import DarkroomConcurrency
import Foundation

/// Something that blocks, on a thread of its own: a task would keep one of the few threads that tests run on.
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

    /// What came of it; nil when nothing has within 60 s.
    func value() throws -> Value? {
        guard ended.wait(timeout: .now() + 60) == .success else { return nil }
        return try result.withLock { $0 }?.get()
    }
}
