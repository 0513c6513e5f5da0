import DarkroomModel
import DarkroomTransfer
import Foundation

/// The bytes of a list that lies on a web server, taken as they come.
///
/// The transfer's thread waits while half a mebibyte is not yet read, so memory is bounded and the server slowed down.
final class WebBytes: ListBytes {
    private let engine: TransferEngine
    private let pipe = Pipe()

    /// Begins to fetch `url`.
    init(url: String) {
        var configuration = TransferConfiguration()
        // The user names this very address, so it may be a private one, but nobody on the public internet may choose one. A
        // list has no largest size, nor a longest time or a least rate while it is fed.
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
        throw PhotoListError(.unreadable, "bytes from the web come once")
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
    /// Bytes on their way from the transfer's thread to the reader's.
    private final class Pipe: @unchecked Sendable {  // what changes is only touched while `condition` is locked
        private static let maxWaitingBytes = 512 << 10

        private let condition = NSCondition()
        private var waiting: [UInt8] = []
        private var isEnded = false
        private var failure: PhotoListError?
        private var isAbandoned = false

        /// Takes bytes when there is room for them; drops them when nobody reads any more.
        func write(_ bytes: UnsafeRawBufferPointer) {
            condition.lock()
            defer { condition.unlock() }
            while waiting.count >= Self.maxWaitingBytes, !isAbandoned { condition.wait() }
            if !isAbandoned { waiting.append(contentsOf: bytes) }
            condition.broadcast()
        }

        /// Says that no more bytes come, and why when there should have been more.
        func end(_ failure: PhotoListError?) {
            condition.lock()
            defer { condition.unlock() }
            isEnded = true
            self.failure = failure
            condition.broadcast()
        }

        /// Waits for bytes, and hands out what fits; 0 at the end.
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

        /// Whether nothing comes within a time.
        func isEmpty(after duration: Duration) -> Bool {
            condition.lock()
            defer { condition.unlock() }
            let deadline = Date(timeIntervalSinceNow: duration / .seconds(1))
            while waiting.isEmpty, !isEnded, condition.wait(until: deadline) {}
            return waiting.isEmpty && !isEnded
        }

        /// Says that nobody reads any more.
        func abandon() {
            condition.lock()
            defer { condition.unlock() }
            isAbandoned = true
            condition.broadcast()
        }
    }
}
