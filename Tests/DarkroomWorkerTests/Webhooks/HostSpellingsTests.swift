import DarkroomTransfer
import Testing

@testable import DarkroomWorker

/// `--webhook-hosts` and `--deny-hosts` parse a host in the same way.
@Suite struct HostSpellingsTests {
    @Test(arguments: [
        ("example.org", "http://example.org/a", true), ("Example.ORG.", "https://example.org/", true),
        ("example.org", "https://EXAMPLE.org./a", true), ("ex%61mple.org", "http://example.org/", true),
        ("example.org", "http://ex%61mple.org/", true), ("B\u{fc}cher.example", "http://b\u{fc}cher.example/", true),
        ("*.example.org", "http://a.b.example.org/", true), ("*.EXAMPLE.org.", "http://a.example.org./", true),
        ("*.example.org", "http://example.org/", false), ("*.example.org", "http://notexample.org/", false),
        ("example.org", "http://a.example.org/", false), ("example.org", "http://example.org@evil.example/", false),
        ("10.0.0.1", "http://0x0a.1/", true), ("0x0a000001", "http://10.0.0.1/", true),
        ("10.1", "http://167772161/", true),
        ("10.0.0.1", "http://10.0.0.10/", false), ("::1", "http://[::1]/", true), ("[::1]", "http://[0:0:0::1]/", true),
        ("[0:0:0:0:0:0:0:1]", "http://[::1]/", true), ("2001:DB8::1", "http://[2001:db8:0::1]/", true),
        ("[::1]", "http://[::2]/", false), ("a_b.example", "http://A_b.example/", true),
        ("localhost", "http://localhost/", true),
    ])
    func acceptsSpellingsOfAHost(_ host: String, _ url: String, _ isMeant: Bool) throws {
        #expect(try WebhookHosts(parsing: [host]).allow(url) == isMeant)
        var configuration = TransferConfiguration()
        configuration.allowPrivate = true
        configuration.deniedHosts = [try HostPattern(parsing: host)]
        #expect((FetchRules(configuration).problem(of: url) != nil) == isMeant)
    }

    @Test(arguments: [
        "", "*", "*.", ".", "a*.org", "*.*.org", "http://example.org", "example.org/a", "example.org?", "example.org#",
        "a b", "user@example.org", "example.org:", "example.org:0", "example.org:0x50", "example.org:99999", "[::1",
        "::1]",
        "*.[::1]", "*.::1", "*.10.0.0.1", "*.0x0a.1", "[fe80::1%25lo]", "example.org,example.net", "example.org\\",
    ])
    func rejectsMalformedHosts(_ text: String) {
        #expect(throws: InvalidWebhookHost(text: text)) { try WebhookHosts(parsing: [text]) }
        #expect(throws: InvalidHostPattern.self) { try HostPattern(parsing: text) }
    }
}
