/// Messages from any thread to the thread that owns the mailbox. The owner sleeps in any wait, such as poll(2).
///
/// The mailbox wakes its owner only if a message arrives while the owner is sleeping or about to sleep.
package final class Mailbox<Message: Sendable>: Sendable {
    private struct State {
        var messages: [Message] = []
        var ownerSleeps = false
        var isOpen = true
    }

    private let state = Locked(State())
    private let wake: @Sendable () -> Void

    /// - Parameter wake: Ends the current or next wait of the owner. The mailbox holds its lock during the call, so it
    ///   does not call `wake` after ``close()`` has returned.
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

    /// Returns the messages posted since the last call, oldest first. Only the owner may call this function.
    package func take() -> [Message] {
        state.withLock { state in
            state.ownerSleeps = false
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Returns true if the mailbox is empty, so that the owner may sleep until a message wakes it.
    package func prepareToSleep() -> Bool {
        state.withLock { state in
            state.ownerSleeps = state.messages.isEmpty
            return state.ownerSleeps
        }
    }

    /// Closes the mailbox and returns the messages left in it. Only the owner may call this function.
    package func close() -> [Message] {
        state.withLock { state in
            state.isOpen = false
            defer { state.messages = [] }
            return state.messages
        }
    }
}
