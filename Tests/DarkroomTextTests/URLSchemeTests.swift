import DarkroomText
import Testing

@Suite struct URLSchemeTests {
    @Test(arguments: [
        ("http://h", "http"), ("HTTPS://h/a", "https"), ("File:///a", "file"), ("file:", "file"), ("httpss://h", nil),
        ("ftp://h", nil), ("http", nil), ("\u{8}ttp://h", nil), ("Hhttp://h", nil), (" http://h", nil), ("", nil),
    ]) func schemeOfAURL(url: String, name: String?) {
        #expect(URLScheme.of(url)?.name == name)
    }

    @Test(arguments: [
        ("http://host:80", "host:80"), ("HTTPS://[::1]/", "[::1]/"), ("http://\u{301}", "\u{301}"),
        ("http:/host", nil), ("http:host", nil), ("file:///a", nil), ("ftp://host", nil), ("host", nil),
    ]) func restOfATextOfTheWeb(text: String, rest: String?) {
        #expect(URLScheme.web(text[...]).map { String($0.rest) } == rest)
    }

    @Test func namesAreListed() {
        #expect(URLScheme.names == "http, https and file")
        #expect(URLScheme.webNames == "http: and https:" && URLScheme.webProtocols == "http,https")
        #expect(URLScheme.named("HTTP")?.webPort == 80 && URLScheme.named("gopher") == nil)
    }
}
