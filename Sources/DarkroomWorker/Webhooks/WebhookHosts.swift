import DarkroomTransfer

/// The hosts that a worker delivers webhooks to.
package struct WebhookHosts: Sendable, Equatable {
    private let patterns: [ServerPattern]

    package init() { patterns = [] }

    /// Hosts in the form `HOST` (port 80 for `http:`, 443 for `https:`), `HOST:PORT`, or `*.HOST` for all names below it, with or
    /// without a port. They may have private addresses.
    /// - Throws: ``InvalidWebhookHost`` for the first text of another form.
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

    /// Whether a webhook may be delivered to `url`: an `http:` or `https:` URL of a listed host.
    package func allow(_ url: String) -> Bool {
        guard let origin = Origin(url: url) else { return false }
        return patterns.contains { $0.matches(origin) }
    }
}

package struct InvalidWebhookHost: Error, Equatable, CustomStringConvertible {
    package let text: String

    package var description: String {
        "\"\(text)\" is no host; write HOST, HOST:PORT or *.HOST, as hooks.example.org:8443"
    }
}
