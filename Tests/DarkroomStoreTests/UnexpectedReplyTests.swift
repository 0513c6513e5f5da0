import DarkroomModel
import DarkroomRedis
import ErrorExpectations
import Testing

@testable import DarkroomStore

/// The error messages for replies that no script returns.
@Suite struct UnexpectedReplyTests {
    private let store: BatchStore

    init() throws { store = BatchStore(try RedisConfiguration(url: "redis://nowhere"), keys: try Keys(namespace: "n")) }

    private func text(_ reply: RedisValue) -> String {
        let call = store.claim(worker: "w", number: 1)
        let error = expectError(StoreError.self) { try call.reply(of: .success(reply)) }
        return error?.description ?? "no error"
    }

    @Test func namesTheScriptAndElementAndShortensTheReply() {
        let large = RedisValue.bytes([UInt8](repeating: 97, count: 5000))
        let rest = [RedisValue](repeating: .array([large, large]), count: 20)
        for (reply, found) in [
            (.array([.status("OK"), .bytes(Array("1e20".utf8))] + rest), "(element 1 is \"1e20\")"),
            (
                .array([.status("OK"), .integer(5), .array([]), .integer(7)] + rest),
                "element 5 is a list of 2, first \"aaa"
            ),
            (.array([.status("OK")]), "(element 1 is nothing)"),
            (.array([.status("WHAT")] + rest), "(a list of 21, first \"WHAT\")"), (.integer(-3), "(the number -3)"),
            (large, "...\" of 5000 bytes)"), (.array([.array([large])]), "(a list of 1)"),
        ] as [(RedisValue, String)] {
            let text = text(reply)
            #expect(
                text.hasPrefix("Claim.lua: this version does not know the reply (") && text.contains(found),
                "\(text)")
            #expect(text.utf8.count < 250)
        }
    }
}
