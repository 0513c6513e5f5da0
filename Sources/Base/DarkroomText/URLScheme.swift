/// A scheme of URLs, and the properties of URLs with this scheme.
///
/// ``all`` is the only table of schemes: photo lists, transfers, redirects, webhooks and the pages use it.
package struct URLScheme: Sendable, Equatable {
    /// The name of the scheme in lower case.
    package let name: String
    /// The default port of the web servers of the scheme; nil if the scheme is not a web scheme. Redirects may lead to
    /// URLs with a web scheme only. In these URLs, a backslash means a slash, as in browsers.
    package var webPort: Int?
    /// Whether requests are encrypted.
    package var isEncrypted = false
    /// Whether the URL has the path of a file on this machine, and no host except `localhost`. All other URLs have a host.
    package var isFile = false

    package static let all = [
        URLScheme(name: "http", webPort: 80),
        URLScheme(name: "https", webPort: 443, isEncrypted: true),
        URLScheme(name: "file", isFile: true),
    ]

    package var isOfWeb: Bool { webPort != nil }

    /// The scheme with this name, in upper or lower case; nil if the name is not in the table.
    package static func named(_ name: some StringProtocol) -> URLScheme? {
        let name = name.lowercased()
        return all.first { $0.name == name }
    }

    /// The scheme of a URL; nil if the URL does not begin with a scheme of the table and a colon.
    package static func of(_ url: UnsafeRawBufferPointer) -> URLScheme? {
        all.first { scheme in
            let name = scheme.name.utf8
            return url.count > name.count && url[name.count] == UInt8(ascii: ":")
                && zip(url, name).allSatisfy { byte, letter in
                    byte == letter || byte | 0x20 == letter && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                }
        }
    }

    /// The scheme of a URL; nil if the URL does not begin with a scheme of the table and a colon.
    package static func of(_ url: String) -> URLScheme? {
        var url = url
        return url.withUTF8 { of(UnsafeRawBufferPointer($0)) }
    }

    /// The scheme of a text that begins with `http://` or `https://`, and the rest of the text; nil for any other text.
    package static func web(_ text: Substring) -> (scheme: URLScheme, rest: Substring)? {
        guard let scheme = of(String(text)), scheme.isOfWeb else { return nil }
        // Compare bytes, because "/" followed by a combining character is a different Character.
        let rest = text.utf8.dropFirst(scheme.name.utf8.count)
        let slashes = "://".utf8
        return rest.starts(with: slashes) ? (scheme, Substring(rest.dropFirst(slashes.count))) : nil
    }

    /// The names of all schemes, in the form for messages: `http, https and file`.
    package static let names = list(all.map(\.name))

    /// The names of the web schemes, in the form for libcurl: `http,https`.
    package static let webProtocols = all.filter(\.isOfWeb).map(\.name).joined(separator: ",")

    /// The names of the web schemes, in the form for messages: `http: and https:`.
    package static let webNames = list(all.filter(\.isOfWeb).map { "\($0.name):" })

    private static func list(_ words: [String]) -> String {
        words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
    }
}
