/// Messages from any thread to the thread that owns the mailbox. The owner sleeps in another wait, such as poll(2).
///
/// The mailbox wakes its owner only when a message arrives while the owner sleeps or is about to.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var ownerSleeps = false
        var isOpen = true
    }

    private let state = Locked(State())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: Ends the owner's current or next wait. It is called with the mailbox locked, so never after ``close()``
    ///   has returned.
    package init(wake: @escaping @Sendable () -> Void) { self.wake = wake }

    /// Adds a message.
    /// - Returns: False if the mailbox is closed.
    @discardableResult
    package func post(_ message: Message) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            state.messages.append(message)
            if state.ownerSleeps {
                state.ownerSleeps = false
                wake()
            }
            return true
        }
    }

    /// Returns the messages since the last call, oldest first. Only the owner calls it.
    package func take() -> [Message] {
        state.withLock { state in
            state.ownerSleeps = false
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Returns true if no message waits: the owner may then sleep. Until the next ``take()``, a message wakes the
    /// owner.
    package func prepareToSleep() -> Bool {
        state.withLock { state in
            state.ownerSleeps = state.messages.isEmpty
            return state.ownerSleeps
        }
    }

    /// Refuses further messages and returns the waiting messages. Only the owner calls it.
    package func close() -> [Message] {
        state.withLock { state in
            state.isOpen = false
            defer { state.messages = [] }
            return state.messages
        }
    }
}
