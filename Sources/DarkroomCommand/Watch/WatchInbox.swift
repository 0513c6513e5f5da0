import Darkroom
import DarkroomConcurrency
import Foundation

/// What happens while `watch` runs, from any thread, for the one that draws.
final class WatchInbox: Sendable {
    /// What happened.
    enum Message: Sendable {
        case read(WatchSnapshot)
        /// Redis does not answer.
        case lost(String)
        /// What became of a request.
        case note(String)
        /// It cannot go on.
        case failed(any Error)
        case signal(Int32)
        case keys([UInt8])
        /// Nobody will press a key any more.
        case keysEnded
    }

    private let messages = Locked<[Message]>([])
    private let wakeup = Wakeup()

    /// Puts a message in. Of pictures that nobody has drawn yet only the last is kept.
    func post(_ message: Message) {
        messages.withLock { messages in
            if case .read = message, case .read? = messages.last { messages.removeLast() }
            messages.append(message)
        }
        wakeup.signal()
    }

    /// Waits until something happened or the time is over, and takes what there is.
    /// - Parameter keys: where keys come from; -1 for nowhere.
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
