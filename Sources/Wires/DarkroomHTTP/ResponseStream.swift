internal import CMicrohttpd
import DarkroomConcurrency

/// A response body that is sent message by message, for example server-sent events.
///
/// The stream holds one message. ``offer(_:)`` rejects the next message until the server has sent this message.
/// Therefore a slow client costs no memory: the caller offers a newer message later.
package final class ResponseStream: Sendable {
    private struct State {
        var message: ArraySlice<UInt8> = []
        /// The time at which the message was offered.
        var since = ContinuousClock.now
        var isFinished = false
        var hasEnded = false
        /// The connection while it waits for a message; otherwise nil.
        var waiting: OpaquePointer?
    }

    private let state = Locked(State())
    private let onReady: @Sendable () -> Void
    private let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - onReady: called when the server has sent a message. Must return quickly.
    ///   - onEnd: called when the response has ended, whatever the reason. Must return quickly.
    package init(onReady: @escaping @Sendable () -> Void = {}, onEnd: @escaping @Sendable () -> Void = {}) {
        self.onReady = onReady
        self.onEnd = onEnd
    }

    /// Sends a message, unless the previous message is not sent yet. Does not block. `message` must not be empty.
    /// - Returns: false if the message is not sent.
    @discardableResult
    package func offer(_ message: [UInt8]) -> Bool {
        let (isTaken, waiting) = state.withLock { state -> (Bool, OpaquePointer?) in
            guard state.message.isEmpty, !state.isFinished, !state.hasEnded else { return (false, nil) }
            state.message = message[...]
            state.since = .now
            defer { state.waiting = nil }
            return (true, state.waiting)
        }
        if let waiting { MHD_resume_connection(waiting) }
        return isTaken
    }

    /// Whether the server has sent all messages, so that the next ``offer(_:)`` succeeds.
    package var isReady: Bool { state.withLock { $0.message.isEmpty && !$0.isFinished && !$0.hasEnded } }

    /// Whether the response has ended.
    package var hasEnded: Bool { state.withLock { $0.hasEnded } }

    /// Ends the response after the last message.
    package func finish() {
        let waiting = state.withLock { state in
            state.isFinished = true
            defer { state.waiting = nil }
            return state.waiting
        }
        if let waiting { MHD_resume_connection(waiting) }
    }

    /// The time since the last message was offered; nil if the server has sent the whole message.
    var stalledFor: Duration? { state.withLock { $0.message.isEmpty ? nil : .now - $0.since } }

    // MARK: - Called on the server's thread

    func response(on connection: OpaquePointer) -> OpaquePointer? {
        let reader = Unmanaged.passRetained(Reader(stream: self, connection: connection))
        let response = MHD_create_response_from_callback(
            UInt64.max /* MHD_SIZE_UNKNOWN */, 32_768,
            { context, _, buffer, room in
                let reader = Unmanaged<Reader>.fromOpaque(context!).takeUnretainedValue()
                return reader.stream.read(UnsafeMutableRawBufferPointer(start: buffer, count: room), reader.connection)
            }, reader.toOpaque(),
            { context in Unmanaged<Reader>.fromOpaque(context!).takeRetainedValue().stream.end() })
        if response == nil { reader.takeRetainedValue().stream.end() }
        return response
    }

    private final class Reader {
        let stream: ResponseStream
        let connection: OpaquePointer

        init(stream: ResponseStream, connection: OpaquePointer) {
            self.stream = stream
            self.connection = connection
        }
    }

    private func read(_ buffer: UnsafeMutableRawBufferPointer, _ connection: OpaquePointer) -> Int {
        let (count, isSent) = state.withLock { state -> (Int, Bool) in
            guard !state.message.isEmpty else {
                if state.isFinished { return (-1, false) }  // MHD_CONTENT_READER_END_OF_STREAM
                MHD_suspend_connection(connection)
                state.waiting = connection
                return (0, false)
            }
            let part = state.message.prefix(buffer.count)
            buffer.copyBytes(from: part)
            state.message = state.message.dropFirst(part.count)
            if state.message.isEmpty { state.message = [] }
            return (part.count, state.message.isEmpty)
        }
        if isSent { onReady() }
        return count
    }

    /// Must be called when the response has ended, or if the response is not sent.
    func end() {
        state.withLock { state in
            state.hasEnded = true
            state.waiting = nil
        }
        onEnd()
    }
}
