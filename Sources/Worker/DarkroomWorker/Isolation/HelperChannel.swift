import DarkroomModel
import Foundation

/// One end of the connection between a worker and a helper process. A message is a JSON header followed by bytes.
struct HelperChannel {
    /// Why a message could not be sent or received.
    enum Failure: Error {
        /// The other process has closed the connection.
        case closed
        /// `isStopped` returned true.
        case stopped
        /// The received bytes are not a valid message.
        case malformed
    }

    /// A connected stream socket.
    let descriptor: Int32

    private static let prefixBytes = 12
    /// The header of a job may contain a photo's name and URL: up to 1 MiB, and more if JSON escapes their characters.
    static let maxJobHeaderBytes = 8 << 20
    /// The header of an answer contains numbers and a text of at most ``HelperAnswer/maxDetail``.
    static let maxAnswerHeaderBytes = 64 << 10
    /// The largest number of bytes for which memory is allocated at once. Nearly all files are smaller.
    private static let partBytes = 64 << 20
    /// The interval at which a waiting call checks `isStopped`.
    private static let pollMilliseconds: Int32 = 20

    /// Sends a message. Blocks until the kernel has accepted the message.
    func send(
        _ header: some Encodable, _ bytes: UnsafeRawBufferPointer, unless isStopped: (() -> Bool)? = nil
    ) throws(Failure) {
        guard let header = try? JSONEncoder().encode(header) else { throw .malformed }  // encoding a header cannot fail
        var prefix = [UInt8](repeating: 0, count: Self.prefixBytes)
        prefix.withUnsafeMutableBytes { prefix in
            prefix.storeBytes(of: UInt32(header.count).littleEndian, as: UInt32.self)
            prefix.storeBytes(of: UInt64(bytes.count).littleEndian, toByteOffset: 4, as: UInt64.self)
        }
        let head = prefix + header
        try head.withUnsafeBytes { head in
            Result { () throws(Failure) in try send(all: head, isStopped) }
        }.get()
        try send(all: bytes, isStopped)
    }

    /// Waits for a message. Throws `malformed` if its header is longer than `maxHeaderBytes`, or the bytes after the
    /// header are more than `maxBytes`.
    func receive<Header: Decodable>(
        _ type: Header.Type, maxHeaderBytes: Int = maxAnswerHeaderBytes, maxBytes: Int,
        unless isStopped: (() -> Bool)? = nil
    ) throws(Failure) -> (header: Header, bytes: [UInt8]) {
        let prefix = try receive(Self.prefixBytes, isStopped)
        let (headerCount, count) = prefix.withUnsafeBytes {
            (
                Int(UInt32(littleEndian: $0.load(as: UInt32.self))),
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 4, as: UInt64.self))
            )
        }
        guard headerCount <= maxHeaderBytes, count <= UInt64(maxBytes) else { throw .malformed }
        let header = try receive(headerCount, isStopped)
        // An unreadable header means that the other process is defective or hostile.
        guard let header = try? UntrustedJSON().decode(type, from: header) else { throw .malformed }
        return (header, try receive(Int(count), isStopped))
    }

    private func send(all bytes: UnsafeRawBufferPointer, _ isStopped: (() -> Bool)?) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            try wait(for: POLLOUT, isStopped)
            let count = Foundation.send(
                descriptor, bytes.baseAddress! + sent, bytes.count - sent,  // not empty here
                Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            if count > 0 {
                sent += count
            } else if errno != EINTR, errno != EAGAIN {
                throw .closed
            }
        }
    }

    /// The other process states the number of bytes, and is not trusted. Therefore memory is allocated only as the
    /// bytes arrive.
    private func receive(_ count: Int, _ isStopped: (() -> Bool)?) throws(Failure) -> [UInt8] {
        var bytes = try receivePart(min(count, Self.partBytes), isStopped)
        while bytes.count < count { bytes += try receivePart(min(count - bytes.count, Self.partBytes), isStopped) }
        return bytes
    }

    private func receivePart(_ count: Int, _ isStopped: (() -> Bool)?) throws(Failure) -> [UInt8] {
        var failure: Failure?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, received in
            do throws(Failure) {
                while received < count {
                    try wait(for: POLLIN, isStopped)
                    let part = recv(
                        descriptor, buffer.baseAddress! + received, count - received,  // not empty here
                        Int32(MSG_DONTWAIT))
                    if part > 0 {
                        received += part
                    } else if part == 0 || errno != EINTR && errno != EAGAIN {
                        throw .closed
                    }
                }
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    private func wait(for event: Int32, _ isStopped: (() -> Bool)?) throws(Failure) {
        var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
        repeat {
            if isStopped?() == true { throw .stopped }
        } while poll(&entry, 1, isStopped == nil ? -1 : Self.pollMilliseconds) <= 0
    }
}
