internal import CMicrohttpd
internal import Glibc

/// A response.
package struct HTTPResponse: Sendable {
    /// The status code.
    package var status: Int
    /// The header fields. Characters that a header may not have are replaced with `?`.
    package var headers: [(name: String, value: String)]
    package var body: Body

    package enum Body: Sendable {
        case bytes([UInt8])
        /// Bytes that all responses share.
        case shared(SharedBytes)
        /// The first `size` bytes of a file. The server closes the descriptor.
        case file(FileBody)
        /// Bytes that are sent while the service makes further bytes.
        case stream(ResponseStream)
    }

    package init(status: Int = 200, headers: [(name: String, value: String)] = [], body: Body = .bytes([])) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The value of a header field that occurs once.
    package subscript(name: String) -> String? {
        get { headers.first { $0.name == name }?.value }
        set {
            headers.removeAll { $0.name == name }
            if let newValue { headers.append((name, newValue)) }
        }
    }

    /// A response of plain text.
    package init(status: Int, text: String) {
        self.init(
            status: status, headers: [("Content-Type", "text/plain; charset=utf-8")], body: .bytes(Array(text.utf8)))
    }

    /// Queues the response on a connection. Must be called on the server's thread.
    func queue(on connection: OpaquePointer) -> MHD_Result {
        guard let response = body.response(on: connection) else { return .NO }  // no memory: close the connection
        defer { MHD_destroy_response(response) }
        for (name, value) in headers {
            MHD_add_response_header(response, name, Self.allowed(value))
        }
        return MHD_queue_response(connection, UInt32(status), response)
    }

    /// Must be called if the response is not sent: ends its stream.
    func discard() { if case .stream(let stream) = body { stream.end() } }

    private static func allowed(_ value: String) -> String {
        String(decoding: value.utf8.map { $0 < 32 || $0 == 127 ? UInt8(ascii: "?") : $0 }, as: UTF8.self)
    }
}

/// Bytes that many responses use without copying them. They stay in memory until the process ends.
package struct SharedBytes: Sendable {
    fileprivate nonisolated(unsafe) let buffer: UnsafeRawBufferPointer  // never changed or freed

    package init(_ bytes: [UInt8]) {
        let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        copy.copyBytes(from: bytes)
        buffer = UnsafeRawBufferPointer(copy)
    }
}

/// An open file in a response.
package final class FileBody: @unchecked Sendable {  // `descriptor` is taken on the server's thread or in `deinit`
    private var descriptor: Int32
    package let size: Int

    /// Takes over a descriptor of a regular file.
    package init(descriptor: Int32, size: Int) {
        self.descriptor = descriptor
        self.size = size
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func take() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }
}

extension HTTPResponse.Body {
    /// The number of bytes; nil for a stream.
    var size: Int? {
        switch self {
        case .bytes(let bytes): bytes.count
        case .shared(let shared): shared.buffer.count
        case .file(let file): file.size
        case .stream: nil
        }
    }

    fileprivate func response(on connection: OpaquePointer) -> OpaquePointer? {
        switch self {
        case .bytes(let bytes):
            return bytes.withUnsafeBytes { bytes in
                MHD_create_response_from_buffer(
                    bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
            }
        case .shared(let shared):
            return MHD_create_response_from_buffer(
                shared.buffer.count, UnsafeMutableRawPointer(mutating: shared.buffer.baseAddress), .RESPMEM_PERSISTENT)
        case .file(let file):
            let descriptor = file.take()
            let response = MHD_create_response_from_fd64(UInt64(file.size), descriptor)
            if response == nil { close(descriptor) }
            return response
        case .stream(let stream): return stream.response(on: connection)
        }
    }
}
