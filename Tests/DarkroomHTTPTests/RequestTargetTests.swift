import DarkroomHTTP
import Testing

struct RequestTargetTests {
    @Test(arguments: [
        ("/", []), ("/batches", ["batches"]), ("/batches/", ["batches"]), ("/a/b%20c", ["a", "b c"]),
        ("/caf%C3%A9", ["café"]), ("/%3Cscript%3E", ["<script>"]), ("/a+b", ["a+b"]), ("/...", ["..."]),
    ])
    func pathIsDecoded(text: String, path: [String]) {
        #expect(RequestTarget(text.utf8)?.path == path)
    }

    @Test(arguments: [
        "", "*", "batches", "http://host/batches", "//", "//batches", "/a//b", "/.", "/..", "/a/../b", "/a/./b",
        "/%2e%2e/b", "/%2E./b", "/.%2e", "/a%2fb", "/a%2Fb", "/a%5cb", "/a\\b", "/a%00b", "/a%0ab", "/a%7f",
        "/a%", "/a%2", "/a%2g", "/a%ff", "/a%c0%ae", "/%c0%ae%c0%ae/b", "/%e0%80%ae", "/a?b=%zz", "/a?b=%ff",
    ])
    func unusableTargetIsRefused(text: String) {
        #expect(RequestTarget(text.utf8) == nil)
    }

    @Test func queryIsDecodedInOrder() {
        let target = RequestTarget("/a?from=10&name=a+b%2Bc&name=&flag&=x&&".utf8)
        let found = target?.query.map { [$0.name, $0.value] }
        #expect(found == [["from", "10"], ["name", "a b+c"], ["name", ""], ["flag", ""], ["", "x"]])
        #expect(target?["name"] == "a b+c")
        #expect(target?["missing"] == nil)
    }

    @Test func encodedTextIsDecodedToItself() {
        let texts = ["", "plain", "a b", "50%", "<script>", "ü/\\?&=#+", "\u{0}\u{1f}", "😀", ".", ".."]
        for text in texts {
            let encoded = RequestTarget.encoded(text)
            #expect(RequestTarget("/a?b=\(encoded)".utf8)?["b"] == text)
        }
    }
}
