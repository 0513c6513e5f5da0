/// The filters of a photo, in the order in which they are applied: a *filter chain*.
///
/// The text of a chain has its filters separated by white space: `resize=800x600 sepia x:stamp`. The text of the empty
/// chain is `none`.
extension [PhotoFilter] {
    package init(parsing text: String) throws(ChainSyntaxError) {
        var parser = ChainParser(TextScanner(text))
        self = try parser.filters()
        guard parser.scanner.isAtEnd else {
            let semicolon = parser.scanner.position..<parser.scanner.position + 1
            throw parser.scanner.error(semicolon, "a \";\" in a filter chain; put a value that contains it in quotes")
        }
    }

    /// The filters of a batch in Redis. If this version cannot parse the text, the result is one filter with the whole
    /// text unchanged. No worker of this version accepts this filter.
    package init(stored text: String) {
        do throws(ChainSyntaxError) {
            self = try [PhotoFilter](parsing: text)
        } catch {
            self = [PhotoFilter(unreadable: text)]
        }
    }

    /// The canonical text of the chain, as it is stored in Redis.
    package var text: String { isEmpty ? "none" : map(\.description).joined(separator: " ") }

    var areValid: Bool {
        count <= PhotoFilter.maxCount && allSatisfy(\.isValid) && text.utf8.count <= PhotoFilter.maxBytes
    }

    /// The filters, all of them valid. A text that contains several filters becomes several filters.
    package func checked() throws(ChainSyntaxError) -> [PhotoFilter] {
        areValid ? self : try [PhotoFilter](parsing: text)
    }

    /// The filters of Darkroom.
    package var builtIn: [Filter] { compactMap(\.builtIn) }

    /// The names of the custom filters, each once, in the order of their first use.
    package var customNames: [String] {
        var names: [String] = []
        for case .some(let name) in map(\.custom?.name) where !names.contains(name) { names.append(name) }
        return names
    }
}

extension PhotoFilter {
    /// The largest number of filters of a photo.
    package static let maxCount = 100
    /// The largest length of the text of a chain in bytes of UTF-8.
    package static let maxBytes = 16_384
}
