import Foundation

/// Bytes to send. The address of the bytes does not change while they are being sent.
///
/// If a write would block, OpenSSL requires the caller to repeat the write with the same pointer. Therefore, after the
/// first write, no bytes are appended until the buffer is empty.
final class OutputBuffer {
    private var storage = UnsafeMutableRawPointer.allocate(byteCount: initialCapacity, alignment: 16)
    private var capacity = initialCapacity
    private var start = 0
    private var end = 0

    private static let initialCapacity = 64 * 1024
    /// Larger storage is replaced with storage of `initialCapacity` as soon as the buffer is empty.
    private static let largestKept = 1024 * 1024

    deinit { storage.deallocate() }

    var isEmpty: Bool { start == end }
    var count: Int { end - start }
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage + start, count: count) }

    /// Removes the first `count` bytes, which have been sent.
    func consume(_ count: Int) {
        start += count
        guard isEmpty else { return }
        start = 0
        end = 0
        if capacity > Self.largestKept { reallocate(Self.initialCapacity) }
    }

    /// Appends a command as an array of bulk strings
    /// (https://redis.io/docs/latest/develop/reference/protocol-spec/#sending-commands-to-a-redis-server).
    func append(_ command: RedisCommand) {
        appendHeader(UInt8(ascii: "*"), command.arguments.count)
        for argument in command.arguments {
            appendHeader(UInt8(ascii: "$"), argument.count)
            reserve(argument.count + 2)
            argument.withUnsafeBytes { bytes in
                if let source = bytes.baseAddress { (storage + end).copyMemory(from: source, byteCount: bytes.count) }
            }
            end += argument.count
            appendLineEnd()
        }
    }

    /// Appends the header of an array (`*3\r\n`) or of a bulk string (`$12\r\n`).
    private func appendHeader(_ type: UInt8, _ number: Int) {
        reserve(24)  // the type, at most 19 digits, CR LF
        storage.storeBytes(of: type, toByteOffset: end, as: UInt8.self)
        end += 1
        let firstDigit = end
        var rest = number
        repeat {
            storage.storeBytes(of: UInt8(ascii: "0") + UInt8(rest % 10), toByteOffset: end, as: UInt8.self)
            end += 1
            rest /= 10
        } while rest > 0
        var digits = UnsafeMutableRawBufferPointer(start: storage + firstDigit, count: end - firstDigit)
        digits.reverse()
        appendLineEnd()
    }

    private func appendLineEnd() {
        storage.storeBytes(of: UInt8(ascii: "\r"), toByteOffset: end, as: UInt8.self)
        storage.storeBytes(of: UInt8(ascii: "\n"), toByteOffset: end + 1, as: UInt8.self)
        end += 2
    }

    private func reserve(_ count: Int) {
        if end + count > capacity { reallocate(max(capacity * 2, end + count)) }
    }

    private func reallocate(_ newCapacity: Int) {
        let larger = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
        larger.copyMemory(from: storage, byteCount: end)
        storage.deallocate()
        storage = larger
        capacity = newCapacity
    }
}
