import ErrorExpectations
import Testing

@testable import DarkroomRedis

/// The size of replies is bounded: another program may have written large values.
struct ReplyReaderTests {
    private let reader = ReplyReader(of: "redis", mostBytes: 1000)

    private func feed(_ text: String) throws -> [RedisValue] {
        var replies: [RedisValue] = []
        // As they arrive, in parts.
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: 100) {
            try bytes[start..<min(start + 100, bytes.count)].withUnsafeBytes { try reader.feed($0) }
            while let reply = try reader.next() { replies.append(reply) }
        }
        return replies
    }

    private static func bulk(_ size: Int) -> String { "$\(size)\r\n\(String(repeating: "x", count: size))\r\n" }

    @Test(arguments: [
        bulk(2000), "*2\r\n" + bulk(900) + bulk(900), "*100000\r\n" + String(repeating: ":1\r\n", count: 1000),
    ])
    func largeReplyIsRefused(reply: String) throws {
        let error = try requireError(RedisError.self) { _ = try feed(reply) }
        #expect(error.code == .protocolError && error.message.contains("more than 0 MiB"))
    }

    @Test func manyRepliesTogetherMayBeLarge() throws {
        let replies = try feed(String(repeating: Self.bulk(900), count: 20) + String(repeating: ":1\r\n", count: 5000))
        #expect(replies.count == 5020)
    }
}
