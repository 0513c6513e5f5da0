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
    private let reading: Int32
    private let writing: Int32

    init() throws(CommandError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw CommandError("make a pipe: \(String(cString: strerror(errno)))") }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        reading = ends[0]
        writing = ends[1]
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// Puts a message in. Of pictures that nobody has drawn yet only the last is kept.
    func post(_ message: Message) {
        messages.withLock { messages in
            if case .read = message, case .read? = messages.last { messages.removeLast() }
            messages.append(message)
        }
        var byte: UInt8 = 0
        _ = write(writing, &byte, 1)  // a full pipe wakes as well
    }

    /// Waits until something happened or the time is over, and takes what there is.
    /// - Parameter keys: where keys come from; -1 for nowhere.
    func wait(_ timeout: Duration, keys: Int32) -> [Message] {
        var waiting = [
            pollfd(fd: reading, events: Int16(POLLIN), revents: 0), pollfd(fd: keys, events: Int16(POLLIN), revents: 0),
        ]
        poll(&waiting, 2, Int32(timeout.wholeMilliseconds))
        var buffer = [UInt8](repeating: 0, count: 256)
        if waiting[0].revents != 0 { while read(reading, &buffer, buffer.count) == buffer.count {} }
        var taken = messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
        if waiting[1].revents != 0 {
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
