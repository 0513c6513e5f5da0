internal import CHiredis

/// Parses received bytes into replies. Uses hiredis.
final class ReplyReader {
    private let reader: UnsafeMutablePointer<redisReader>

    init() {
        guard let reader = redisReaderCreate() else { fatalError("out of memory for a reader of Redis replies") }
        self.reader = reader
    }

    deinit { redisReaderFree(reader) }

    /// Adds bytes received from the server.
    func feed(_ bytes: UnsafeRawBufferPointer) throws(ProtocolError) {
        let fed = redisReaderFeed(reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        if fed != REDIS_OK { throw failure }
    }

    /// Returns the next complete reply; nil if more bytes are needed.
    func next() throws(ProtocolError) -> RedisValue? {
        var found: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &found) == REDIS_OK else { throw failure }
        guard let found else { return nil }
        defer { freeReplyObject(found) }
        return Self.value(found.assumingMemoryBound(to: redisReply.self).pointee)
    }

    private var failure: ProtocolError {
        withUnsafeBytes(of: reader.pointee.errstr) { text in
            ProtocolError(found: String(decoding: text.prefix { $0 != 0 }, as: UTF8.self))
        }
    }

    private static func value(_ reply: redisReply) -> RedisValue {
        let text = UnsafeRawBufferPointer(start: reply.str, count: reply.str == nil ? 0 : Int(reply.len))
        return switch reply.type {
        case REDIS_REPLY_INTEGER: .integer(Int(reply.integer))
        case REDIS_REPLY_STRING: .bytes([UInt8](text))
        case REDIS_REPLY_STATUS: .status(String(decoding: text, as: UTF8.self))
        case REDIS_REPLY_ERROR: .error(String(decoding: text, as: UTF8.self))
        case REDIS_REPLY_ARRAY:
            .array((0..<Int(reply.elements)).map { reply.element[$0].map { value($0.pointee) } ?? .null })
        default: .null
        }
    }
}

/// The received bytes violate the Redis protocol.
struct ProtocolError: Error {
    let found: String
}
