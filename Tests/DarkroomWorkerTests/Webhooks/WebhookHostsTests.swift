import Testing

@testable import DarkroomWorker

@Suite struct WebhookHostsTests {
    @Test(arguments: [
        (["hooks.example.org"], "https://hooks.example.org/a?b=c", true),
        (["hooks.example.org"], "http://HOOKS.example.org./", true),
        (["Hooks.Example.org"], "http://hooks.example.org:80/", true),
        (["hooks.example.org"], "http://hooks.example.org:6379/", false),  // another service on the same machine
        (["hooks.example.org"], "http://hooks.example.org:443/", false),
        (["hooks.example.org"], "https://evil.example/?hooks.example.org", false),
        (["hooks.example.org"], "https://hooks.example.org@evil.example/", false),
        (["hooks.example.org"], "https://hooks.example.org.evil.example/", false),
        (["hooks.example.org"], "https://a.hooks.example.org/", false),
        (["hooks.example.org"], "ftp://hooks.example.org/", false),
        (["hooks.example.org"], "file:///hooks.example.org", false),
        (["hooks.example.org"], "hooks.example.org", false), (["hooks.example.org"], "", false),
        (["hooks.example.org:8443"], "https://hooks.example.org:8443/", true),
        (["hooks.example.org:8443"], "https://hooks.example.org/", false),
        (["*.example.org"], "https://a.b.example.org/", true), (["*.example.org"], "https://example.org/", false),
        (["*.example.org"], "https://notexample.org/", false), (["*.example.org:81"], "http://a.example.org:81/", true),
        (["127.0.0.1:9000"], "http://127.0.0.1:9000/", true), (["127.0.0.1:9000"], "http://2130706433:9000/", true),
        (["[::1]:9000"], "http://[::1]:9000/", true), (["[::1]"], "http://[::1]/", true),
        (["a.example", "b.example"], "http://b.example/", true), ([], "http://b.example/", false),
    ])
    func allowOnlyListedHosts(_ hosts: [String], _ url: String, _ isAllowed: Bool) throws {
        #expect(try WebhookHosts(parsing: hosts).allow(url) == isAllowed)
    }

    @Test(arguments: [
        "", "*", "*.", "*.*.example.org", "https://hooks.example.org", "hooks.example.org/path",
        "user@hooks.example.org",
        "hooks.example.org:", "hooks.example.org:0x50", "hooks.example.org:99999", "a b", "*.10.0.0.1",
    ])
    func rejectMalformedHosts(_ text: String) {
        #expect(throws: InvalidWebhookHost(text: text)) { try WebhookHosts(parsing: [text]) }
    }
}
