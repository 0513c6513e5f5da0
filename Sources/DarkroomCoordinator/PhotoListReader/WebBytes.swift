import DarkroomModel
import DarkroomTransfer
import Foundation

/// The bytes of a list on a web server, in the order in which they arrive.
///
/// While 512 KiB are unread, the thread of the transfer waits. So the buffer stays small, and TCP flow control slows
/// the server down.
final class WebBytes: ListBytes {
    private let engine: TransferEngine
    private let pipe = Pipe()

    init(url: String) {
        var configuration = TransferConfiguration()
        // The user chose this address, so it may be private. But a redirect from the public internet must not lead to a
        // private address. Size, time and rate are not limited.
        configuration.mayStartAnywhere = true
        configuration.maxBytes = 1 << 50
        configuration.timeout = nil
        configuration.minBytesPerSecond = 0
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
            default: .unreadable
            }
        return PhotoListError(code, "fetching it failed: \(error)")
    }
}

extension WebBytes {
    /// Passes bytes from the thread of the transfer to the thread of the reader.
    private final class Pipe: @unchecked Sendable {  // variables are used only while `condition` is locked
        private static let maxWaitingBytes = 512 << 10

        private let condition = NSCondition()
        private var waiting: [UInt8] = []
        private var isEnded = false
        private var failure: PhotoListError?
        private var isAbandoned = false

        /// Adds bytes. Blocks while the buffer is full. After ``abandon()`` was called, discards the bytes.
        func write(_ bytes: UnsafeRawBufferPointer) {
            condition.lock()
            defer { condition.unlock() }
            while waiting.count >= Self.maxWaitingBytes, !isAbandoned { condition.wait() }
            if !isAbandoned { waiting.append(contentsOf: bytes) }
            condition.broadcast()
        }

        /// Marks the end of the bytes, with an error if the transfer failed.
        func end(_ failure: PhotoListError?) {
            condition.lock()
            defer { condition.unlock() }
            isEnded = true
            self.failure = failure
            condition.broadcast()
        }

        /// Waits for bytes, and copies them to the buffer. Returns their number; 0 at the end.
        func read(into buffer: UnsafeMutableRawBufferPointer) -> Result<Int, PhotoListError> {
            condition.lock()
            defer { condition.unlock() }
            while waiting.isEmpty, !isEnded { condition.wait() }
            if waiting.isEmpty, let failure { return .failure(failure) }
            let count = min(waiting.count, buffer.count)
            waiting.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            waiting.removeFirst(count)
            condition.broadcast()
            return .success(count)
        }

        /// True if no bytes arrive within `duration`.
        func isEmpty(after duration: Duration) -> Bool {
            condition.lock()
            defer { condition.unlock() }
            let deadline = Date(timeIntervalSinceNow: duration / .seconds(1))
            while waiting.isEmpty, !isEnded, condition.wait(until: deadline) {}
            return waiting.isEmpty && !isEnded
        }

        /// Stops reading, so that ``write(_:)`` discards further bytes.
        func abandon() {
            condition.lock()
            defer { condition.unlock() }
            isAbandoned = true
            condition.broadcast()
        }
    }
}
