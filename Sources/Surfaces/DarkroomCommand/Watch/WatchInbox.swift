import Darkroom
import DarkroomConcurrency
import Foundation

/// The queue of messages from all threads to the thread that draws `watch`.
final class WatchInbox: Sendable {
    enum Message: Sendable {
        case read(WatchSnapshot)
        /// Redis is unreachable; the associated value is the error.
        case lost(String)
        /// The result of a request.
        case note(String)
        /// Reading has failed, and a retry cannot help.
        case failed(any Error)
        case signal(Int32)
        case keys([UInt8])
        case keysEnded
    }

    private let messages = Locked<[Message]>([])
    private let wakeup = Wakeup()

    /// Adds a message. A new snapshot replaces a snapshot that is still waiting.
    func post(_ message: Message) {
        messages.withLock { messages in
            if case .read = message, case .read? = messages.last { messages.removeLast() }
            messages.append(message)
        }
        wakeup.signal()
    }

    /// Waits for messages or keys until the timeout, and removes and returns all messages.
    /// - Parameter keys: The file descriptor from which keys are read; -1 if there is no input for keys.
    func wait(_ timeout: Duration, keys: Int32) -> [Message] {
        let hasKeys = wakeup.wait(for: keys, events: Int16(POLLIN), until: .now + timeout)
        var taken = messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
        if hasKeys {
            var buffer = [UInt8](repeating: 0, count: 256)
            let count = read(keys, &buffer, buffer.count)
            if count > 0 {
                taken.append(.keys(Array(buffer[..<count])))
            } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
                taken.append(.keysEnded)
            }
        }
        return taken
    }
}
