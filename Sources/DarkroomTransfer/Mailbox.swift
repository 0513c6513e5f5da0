internal import CCurl
import DarkroomConcurrency

/// What other threads tell the engine's thread.
final class Mailbox: @unchecked Sendable {  // `multi` is constant, and only woken while the lock says it is open
    enum Message {
        case start(Transfer)
        case cancel(Transfer)
        case withdraw(Transfer)
        case reorder(Transfer, TransferOrder)
        case limit(Int)
        case fileRead(Transfer, attempt: Int, Result<[UInt8], Refusal>)
        case shutdown
    }

    private struct State {
        var messages: [Message] = []
        var isPolling = false
        var isOpen = true
    }

    private let state = Locked(State())
    private let multi: UnsafeMutableRawPointer

    init(multi: UnsafeMutableRawPointer) { self.multi = multi }

    /// Leaves `message` and wakes the engine's thread if it sleeps; `false` when nobody reads any more.
    @discardableResult
    func post(_ message: Message) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            state.messages.append(message)
            if state.isPolling {
                state.isPolling = false  // one wake-up is enough until it polls again
                curl_multi_wakeup(multi)
            }
            return true
        }
    }

    /// What was posted since the last call.
    func take() -> [Message] {
        state.withLock { state in
            state.isPolling = false
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Whether nothing waits, so that the engine's thread may sleep; from now on a message wakes it.
    func beginPolling() -> Bool {
        state.withLock { state in
            state.isPolling = state.messages.isEmpty
            return state.isPolling
        }
    }

    /// Refuses further messages and returns the last.
    func close() -> [Message] {
        state.withLock { state in
            state.isOpen = false
            defer { state.messages = [] }
            return state.messages
        }
    }
}
