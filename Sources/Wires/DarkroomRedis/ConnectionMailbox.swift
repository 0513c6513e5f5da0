import DarkroomConcurrency

/// Messages from other threads to the thread of a connection or subscription. A thread without work waits for messages
/// and for its socket in ``sleep(until:socket:events:)``.
final class ConnectionMailbox: Sendable {
    enum Message {
        case call(RedisCall)
        case masterMayHaveChanged
        case close
    }

    private let messages: Mailbox<Message>
    private let wakeup = Wakeup()

    init() { messages = Mailbox { [wakeup] in wakeup.signal() } }

    /// Adds a message and wakes the thread.
    /// - Returns: False if the thread has ended.
    @discardableResult
    func post(_ message: Message) -> Bool { messages.post(message) }

    /// Returns the messages posted since the last call, oldest first. Only the owning thread may call this function.
    func take() -> [Message] { messages.take() }

    /// Blocks until `socket` is ready for `events`, a message arrives, or `deadline` passes.
    func sleep(until deadline: ContinuousClock.Instant? = nil, socket: Int32 = -1, events: Int16 = 0) {
        if messages.prepareToSleep() { wakeup.wait(for: socket, events: events, until: deadline) }
    }

    /// Closes the mailbox and returns the messages left in it. Only the owning thread may call this function.
    func end() -> [Message] { messages.close() }
}
