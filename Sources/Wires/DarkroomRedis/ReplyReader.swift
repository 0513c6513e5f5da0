internal import CHiredis

/// Parses received bytes into replies. Uses hiredis.
final class ReplyReader {
    private let reader: UnsafeMutablePointer<redisReader>
    private let server: String
    private let mostBytes: Int
    /// The number of bytes that have arrived since the last complete reply.
    private var bytes = 0

    /// The largest number of bytes of a reply. The replies to claims are the largest replies of Darkroom's scripts:
    /// they have up to about 20 MB. Without a limit, a user who can write to Redis could fill the memory of every
    /// process that reads from Redis.
    static let mostBytes = 128 << 20

    /// - Parameters:
    ///   - server: the name of the server in error messages.
    ///   - mostBytes: the maximum number of bytes of a reply.
    init(of server: String, mostBytes: Int = ReplyReader.mostBytes) {
        self.mostBytes = mostBytes
        guard let reader = redisReaderCreate() else { fatalError("out of memory for a reader of Redis replies") }
        self.reader = reader
        self.server = server
    }

    deinit { redisReaderFree(reader) }

    func feed(_ bytes: UnsafeRawBufferPointer) throws(RedisError) {
        let fed = redisReaderFeed(reader, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        if fed != REDIS_OK { throw failure }
        self.bytes += bytes.count
    }

    /// Returns the next complete reply; nil if more bytes are needed.
    func next() throws(RedisError) -> RedisValue? {
        var found: UnsafeMutableRawPointer?
        guard redisReaderGetReply(reader, &found) == REDIS_OK else { throw failure }
        guard let found else {
            guard bytes <= mostBytes else {
                throw RedisError(
                    .protocolError, "read a reply of \(server)",
                    "it has more than \(mostBytes >> 20) MiB; another program may have written large values")
            }
            return nil
        }
        bytes = reader.pointee.len - reader.pointee.pos
        defer { freeReplyObject(found) }
        return Self.value(found.assumingMemoryBound(to: redisReply.self).pointee)
    }

    private var failure: RedisError {
        let found = withUnsafeBytes(of: reader.pointee.errstr) { text in
            String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
        return RedisError(.protocolError, "read a reply of \(server)", "\(found); is a Redis listening there?")
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
