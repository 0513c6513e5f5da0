import DarkroomTestSupport
import ErrorExpectations
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(1))) struct BrowserURLTests {
    @Test(arguments: [
        ("http://h/a b", "http://h/a%20b"), ("http://h/<a>\"{b}^`|", "http://h/%3Ca%3E%22%7Bb%7D%5E%60%7C"),
        ("http://h/[a]'~!$&()*+,;=:@", "http://h/[a]'~!$&()*+,;=:@"), ("http://h/a%20%zz%", "http://h/a%20%zz%"),
        ("http://h/a\\b\\c.jpg", "http://h/a/b/c.jpg"), ("http:\\\\h\\a", "http://h/a"), ("hTTp:/\\h/a", "http://h/a"),
        ("http://h\\@evil/a", "http://h/@evil/a"), ("http://h/?a=<b>\"'\\^`{|}", "http://h/?a=%3Cb%3E%22%27\\^`{|}"),
        ("http://h/#<a>`\"{}", "http://h/#%3Ca%3E%60%22{}"), ("http://h?a\\b", "http://h?a\\b"),
        ("http://a|b^:p[{:w@x@h/", "http://a%7Cb%5E:p%5B%7B%3Aw%40x@h/"), ("http://ü:é@h/", "http://%C3%BC:%C3%A9@h/"),
        ("http://h/ä?ö#ü", "http://h/%C3%A4?%C3%B6#%C3%BC"), ("  http://h/a\t\n", "http://h/a"),
        ("http://münchen.de/a", "http://xn--mnchen-3ya.de/a"),
        ("https://MÜNCHEN.de:8443", "https://xn--mnchen-3ya.de:8443"),
        ("http://straße.de/", "http://xn--strae-oqa.de/"), ("http://m%C3%BCnchen.de/", "http://xn--mnchen-3ya.de/"),
        ("http://例え。jp/", "http://xn--r8jz45g.jp/"), ("http://mu\u{308}nchen.de/", "http://xn--mnchen-3ya.de/"),
        ("http://a_b.example/", "http://a_b.example/"), ("http://[::1]:80/x y", "http://[::1]:80/x%20y"),
        ("file:///a b\\c", "file:///a b\\c"), ("ftp://h/a b", "ftp://h/a b"), ("NO URL", "NO URL"),
    ])
    func urlIsWrittenAsBrowsersSendIt(text: String, url: String) throws {
        #expect(try BrowserURL.encoded(text) == url)
    }

    @Test(arguments: ["http://a%2Fb/", "http://a%20b/", "http://ü b/", "http://a%/", "http://%FF.de/", "http://ü|x/"])
    func hostThatIsNoNameIsRefused(text: String) {
        #expect(expectError(TransferError.self) { try TransferURL(parsing: text) }?.code == .notAURL)
    }

    /// A private address is recognized in every spelling.
    @Test(arguments: ["http://１２７.0.0.1/", "http://127。0。0。1/", "http:\\\\127.0.0.1\\x", "http://%31%32%37.0.0.1/"])
    func hostIsCheckedAsItIsContacted(text: String) throws {
        guard case .web(_, let host) = try TransferURL(parsing: text) else {
            Issue.record("it is a file")
            return
        }
        #expect(host == "127.0.0.1")
        #expect(FetchRules(TransferConfiguration()).problem(of: text)?.code == .addressDenied)
    }

    @Test func patternsOfHostsMatchInternationalNames() throws {
        let pattern = try HostPattern(parsing: "*.münchen.de")
        let ascii = try HostPattern(parsing: "*.xn--mnchen-3ya.de")
        guard case .web(_, let host) = try TransferURL(parsing: "http://www.MÜNCHEN.de/") else {
            Issue.record("it is a file")
            return
        }
        #expect(pattern.matches(host) && pattern == ascii)
    }

    @Test(arguments: [
        ("b.jpg", "http://h/x/b.jpg"), ("/b c\\d", "http://h/b%20c/d"), ("\\b", "http://h/b"), ("..\\b", "http://h/b"),
        ("//o/b", "http://o/b"), ("\\\\o\\b", "http://o/b"), ("/\\o/b", "http://o/b"), ("http:\\\\o\\b", "http://o/b"),
        ("https://o/b{}", "https://o/b%7B%7D"), ("http:b", "http://h/x/b"), ("?q=<", "http://h/x/a?q=%3C"),
        ("http://münchen.de/b", "http://xn--mnchen-3ya.de/b"), (" /b ", "http://h/b"), ("ftp://o/b", "ftp://o/b"),
        ("/ü", "http://h/%C3%BC"),
    ])
    func locationIsResolvedAsBrowsersDo(location: String, url: String) throws {
        #expect(try BrowserURL.resolved(Array(location.utf8), against: "http://h/x/a") == url)
    }

    @Test func locationNeedNotBeUTF8() throws {
        #expect(try BrowserURL.resolved(Array("/caf".utf8) + [0xe9], against: "http://h/x") == "http://h/caf%E9")
    }

    @Test func redirectsWithBackslashesAndSpacesAreFollowed() async throws {
        let server = try HostileServer([
            "/a": .redirect(to: "\\b\\c d{}.jpg"), "/b/c%20d%7B%7D.jpg": .answer(body: [1, 2, 3]),
        ])
        defer { server.stop() }
        let result = await TransferEngine(.local()).fetch(server.url("/a"))
        #expect(try result.get().body == [1, 2, 3])
    }

    private static let paths: [(String, [UInt8])] = [
        ("file:///a%09%0A%0D%01", Array("/a\t\n\r\u{1}".utf8)), ("file:///c%E9", [0x2f, 0x63, 0xe9]),
    ]

    @Test(arguments: paths) func pathsOfFilesMayHaveAllBytes(text: String, path: [UInt8]) throws {
        #expect(try TransferURL(parsing: text) == .file(path: FilePath(path)))
    }

    @Test func pathWithANULIsRefused() {
        #expect(expectError(TransferError.self) { try TransferURL(parsing: "file:///a%00b") }?.code == .notAURL)
    }
}
