import Testing

@testable import DarkroomTransfer

@Suite struct HostRulesTests {
    private func isAllowed(_ url: String, allow: [String] = [], deny: [String] = []) throws -> Bool {
        let rules = HostRules(
            allowed: try allow.map { try HostPattern(parsing: $0) },
            denied: try deny.map { try HostPattern(parsing: $0) })
        guard case .web(_, let host) = try TransferURL(parsing: url) else { return false }
        do throws(TransferError) {
            try rules.check(host)
            return true
        } catch {
            #expect(error.code == .addressDenied && error.detail.contains(host))
            return false
        }
    }

    @Test(arguments: [
        ("example.org", "http://example.org/a"), ("example.org", "https://EXAMPLE.org.:8443/a"),
        ("Example.ORG.", "http://user:pass@example.org/a"), ("example.org", "http://ex%61mple.org/a"),
        ("*.example.org", "http://a.example.org/"), ("*.example.org", "http://a.b.example.org/"),
        ("10.0.0.1", "http://10.1/"), ("10.0.0.1", "http://0x0a000001/"), ("10.0.0.1", "http://012.0.0.1/"),
        ("10.0.0.1", "http://167772161/"), ("10.0.0.1", "http://10.0.0.1./"), ("10.0.0.1", "http://%31%30.1/"),
        ("0x0a.1", "http://10.0.0.1/"), ("::1", "http://[0:0:0:0:0:0:0:1]/"), ("[::1]", "http://[::1]:80/"),
        ("fe80::1", "http://[fe80::1%25lo]/"), ("*.example.org", "http://a_b.example.org/"),
    ])
    func patternMatchesEverySpellingOfAHost(pattern: String, url: String) throws {
        #expect(try isAllowed(url, allow: [pattern]))
        #expect(try !isAllowed(url, deny: [pattern]))
        #expect(
            try !isAllowed(url, allow: [pattern], deny: [pattern]), "a host that is both allowed and denied was allowed"
        )
    }

    @Test(arguments: [
        ("example.org", "http://a.example.org/"), ("example.org", "http://example.org.evil.net/"),
        ("*.example.org", "http://example.org/"), ("*.example.org", "http://aexample.org/"),
        ("*.example.org", "http://a.example.org.net/"), ("example.org", "http://example.org@evil.net/"),
        ("example.org", "http://evil.net/example.org"), ("example.org", "http://evil.net#@example.org/"),
        ("10.0.0.1", "http://10.0.0.10/"), ("*.0.0.1.example", "http://10.0.0.1/"),
    ])
    func patternMatchesNoOtherHost(pattern: String, url: String) throws {
        #expect(try !isAllowed(url, allow: [pattern]))
        #expect(try isAllowed(url, deny: [pattern]))
    }

    @Test(arguments: [
        "", "*", "*.", "a*.org", "*.*.org", "http://example.org", "example.org/a", "example.org:80", "a b",
        "user@example.org",
        "[::1", "*.[::1]", "*.10.0.0.1", "example.org,example.net", "[fe80::1%25lo]",
    ])
    func refusesInvalidPatterns(text: String) {
        #expect(throws: InvalidHostPattern.self) { try HostPattern(parsing: text) }
    }
}
