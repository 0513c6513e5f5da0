import DarkroomConcurrency
import DarkroomModel
import DarkroomTransfer

/// The bytes of a list on a web server, in the order in which they arrive.
///
/// While 512 KiB are unread, the thread of the transfer waits. Therefore the buffer stays small, and TCP flow control
/// slows the server down.
final class WebBytes: ListBytes {
    private let engine: TransferEngine
    private let pipe: Pipe

    /// A redirect from the public internet never leads to a private address.
    init(url: String, _ options: ListOptions) {
        pipe = Pipe(options.limits)
        var configuration = TransferConfiguration()
        configuration.mayStartAnywhere = options.mayBePrivate
        // Time and rate are limited only by the reader.
        configuration.maxBytes = options.limits?.maxBytes ?? 1 << 50
        configuration.timeout = nil
        configuration.minBytesPerSecond = 0
        // The user waits for the list.
        configuration.patience = .seconds(5)
        configuration.retryTime = .seconds(5)
        configuration.retryPauses = [.milliseconds(200), .seconds(1)]
        engine = TransferEngine(configuration)
        engine.start(url) { [pipe] chunk in
            pipe.write(chunk)
        } completion: { [pipe] result in
            switch result {
            case .success: pipe.end(nil)
            case .failure(let error): pipe.end(Self.failure(error))
            }
        }
    }

    deinit {
        pipe.abandon()
        engine.shutdown()
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(PhotoListError) -> Int {
        try pipe.read(into: buffer).get()
    }

    func hasPaused() -> Bool { pipe.isEmpty(after: .milliseconds(500)) }

    func rewind() throws(PhotoListError) {
        throw PhotoListError(.unreadable, "a download cannot be read again")
    }

    private static func failure(_ error: TransferError) -> PhotoListError {
        let code: PhotoListError.Code =
            switch error.code {
            case .httpClientError(404), .httpClientError(410), .nameNotFound: .notFound
            case .tooLarge: .tooLarge
            default: .unreadable
            }
        return PhotoListError(code, "fetching it failed: \(error)")
    }
}

extension WebBytes {
    /// Passes bytes from the thread of the transfer to the thread of the reader.
    private final class Pipe: Sendable {
        private struct State {
            var waiting: [UInt8] = []
            var isEnded = false
            var failure: PhotoListError?
            var isAbandoned = false
            /// The number of bytes that were read, and the time for which the reader has waited for them.
            var bytesRead = 0
            var waited = Duration.zero
        }

        private static let maxWaitingBytes = 512 << 10

        private let limits: ListLimits?
        private let state = Locked(State())
        /// Raised when bytes have arrived or the transfer has ended.
        private let arrived = Signal()
        /// Raised when the reader has taken bytes or has stopped.
        private let taken = Signal()

        init(_ limits: ListLimits?) { self.limits = limits }

        /// Adds bytes. Blocks while the buffer is full. After ``abandon()`` was called, discards the bytes.
        func write(_ bytes: UnsafeRawBufferPointer) {
            while !add(bytes) { taken.wait() }
            arrived.raise()
        }

        /// Returns false if the buffer is full.
        private func add(_ bytes: UnsafeRawBufferPointer) -> Bool {
            state.withLock { state in
                if state.isAbandoned { return true }
                guard state.waiting.count < Self.maxWaitingBytes else { return false }
                state.waiting.append(contentsOf: bytes)
                return true
            }
        }

        /// Marks the end of the bytes, with an error if the transfer failed.
        func end(_ failure: PhotoListError?) {
            state.withLock { state in
                state.isEnded = true
                state.failure = failure
            }
            arrived.raise()
        }

        /// Waits for bytes, and copies them to the buffer. Returns their number; 0 at the end.
        func read(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, PhotoListError> {
            while true {
                if let failure = excess() { return .failure(failure) }
                if let result = take(into: buffer) {
                    taken.raise()
                    return result
                }
                let began = ContinuousClock.now
                arrived.wait(timeout: limits == nil ? nil : .seconds(1))
                state.withLock { $0.waited += .now - began }
            }
        }

        /// The reason why reading must end; nil if reading may continue.
        private func excess() -> PhotoListError? {
            guard let limits else { return nil }
            if limits.isStopped() { return PhotoListError(.unreadable, "reading it was stopped") }
            let (bytes, waited) = state.withLock { ($0.bytesRead, $0.waited) }
            let longest = min(limits.patience + .seconds(bytes / limits.slowestBytesPerSecond), limits.longestWait)
            guard waited > longest else { return nil }
            let seconds = waited.wholeMilliseconds / 1000
            return PhotoListError(.unreadable, "its server has sent \(bytes) bytes in \(seconds) s, which is too slow")
        }

        /// Returns nil if no bytes are waiting and the transfer has not ended.
        private func take(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, PhotoListError>? {
            state.withLock { state in
                guard !state.waiting.isEmpty else {
                    guard state.isEnded else { return nil }
                    return state.failure.map { .failure($0) } ?? .success(0)
                }
                let count = min(state.waiting.count, buffer.count)
                state.waiting.withUnsafeBytes {
                    buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count]))
                }
                state.waiting.removeFirst(count)
                state.bytesRead += count
                return .success(count)
            }
        }

        /// True if no bytes arrive within `duration`.
        func isEmpty(after duration: Duration) -> Bool {
            let deadline = ContinuousClock.now + duration
            while isEmpty, arrived.wait(timeout: max(.zero, deadline - .now)) {}
            return isEmpty
        }

        private var isEmpty: Bool { state.withLock { $0.waiting.isEmpty && !$0.isEnded } }

        /// Stops reading, so that ``write(_:)`` discards further bytes.
        func abandon() {
            state.withLock { $0.isAbandoned = true }
            taken.raise()
        }
    }
}
