import DarkroomTransfer

/// The hosts to which a worker delivers webhooks.
package struct WebhookHosts: Sendable, Equatable {
    private let patterns: [ServerPattern]

    package init() { patterns = [] }

    /// Creates a list of hosts. Each text is `HOST` (port 80 for `http:`, 443 for `https:`), `HOST:PORT`, or `*.HOST`
    /// with or without a port, for all host names that end in `.HOST`. The hosts may have private addresses.
    /// - Throws: ``InvalidWebhookHost`` for the first text that has another form.
    package init(parsing texts: [String]) throws(InvalidWebhookHost) {
        var patterns: [ServerPattern] = []
        for text in texts {
            do throws(InvalidHostPattern) {
                patterns.append(try ServerPattern(parsing: text))
            } catch {
                throw InvalidWebhookHost(text: text)
            }
        }
        self.patterns = patterns
    }

    package var isEmpty: Bool { patterns.isEmpty }

    /// Whether a webhook may be delivered to `url`: only if it is an `http:` or `https:` URL of a listed host.
    package func allow(_ url: String) -> Bool {
        guard let origin = Origin(url: url) else { return false }
        return patterns.contains { $0.matches(origin) }
    }
}

package struct InvalidWebhookHost: Error, Equatable, CustomStringConvertible {
    package let text: String

    var problem: String { "not a host; write HOST, HOST:PORT or *.HOST, such as hooks.example.org:8443" }

    package var description: String { "\"\(text)\": \(problem)" }
}
