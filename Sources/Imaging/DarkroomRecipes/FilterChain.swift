/// A step of a filter chain.
package enum ChainStep: Sendable, Hashable {
    case filter(Filter)
    /// A custom filter, which a worker has registered under a name.
    case custom(CustomStep)
}

/// A custom filter in a filter chain, written as `x:NAME` or `x:NAME=ARGUMENTS`.
package struct CustomStep: Sendable, Hashable {
    package static let prefix = "x:"
    /// The largest length of arguments in bytes of UTF-8.
    package static let maxArgumentBytes = 4096

    package let name: String
    /// A text that Darkroom does not interpret; may be empty.
    package let arguments: String

    /// Creates a step. The name must be valid, and the arguments must not be longer than `maxArgumentBytes` or contain
    /// control characters.
    package init(name: String, arguments: String = "") {
        precondition(Self.isName(name) && Self.areArguments(arguments), "an invalid custom filter")
        self.name = name
        self.arguments = arguments
    }

    /// Whether a name is valid: 1 to 64 of the characters `A-Z a-z 0-9 _ -`.
    package static func isName(_ name: String) -> Bool { name.isName(with: "_-") }

    package static func areArguments(_ text: String) -> Bool {
        text.utf8.count <= maxArgumentBytes && !text.unicodeScalars.contains(where: \.isControl)
    }
}

extension String {
    /// Whether the text is 1 to 64 of the characters `A-Z a-z 0-9` and `others`.
    func isName(with others: String) -> Bool {
        (1...64).contains(utf8.count)
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: others.utf8.contains(byte)
                }
            }
    }
}

/// The filters and custom filters of a photo, in order.
///
/// The text of a chain has its steps separated by white space: `resize=800x600 sepia x:stamp`. The text of the empty
/// chain is `none`.
package struct FilterChain: Sendable, Hashable {
    package static let maxSteps = 100
    /// The largest length of a text in bytes of UTF-8.
    package static let maxBytes = 16_384

    package let steps: [ChainStep]

    /// Creates a chain of at most `maxSteps` steps.
    package init(_ steps: [ChainStep]) {
        precondition(steps.count <= Self.maxSteps, "a filter chain has at most \(Self.maxSteps) steps")
        self.steps = steps
    }

    package init(parsing text: String) throws(ChainSyntaxError) {
        var parser = ChainParser(TextScanner(text))
        self = try parser.chain()
        guard parser.scanner.isAtEnd else {
            let semicolon = parser.scanner.position..<parser.scanner.position + 1
            throw parser.scanner.error(semicolon, "a \";\" in a filter chain; put a value that contains it in quotes")
        }
    }

    /// The chain with each filter replaced.
    package func map(_ replace: (Filter) -> Filter) -> FilterChain {
        FilterChain(steps.map { if case .filter(let filter) = $0 { .filter(replace(filter)) } else { $0 } })
    }

    /// The filters without the custom filters.
    package var filters: [Filter] {
        steps.compactMap { if case .filter(let filter) = $0 { filter } else { nil } }
    }

    /// The names of the custom filters, each once, in the order of their first step.
    package var customNames: [String] {
        var names: [String] = []
        for case .custom(let step) in steps where !names.contains(step.name) { names.append(step.name) }
        return names
    }
}

// MARK: - Canonical text

extension FilterChain: CustomStringConvertible {
    package var description: String {
        steps.isEmpty ? "none" : steps.map(\.description).joined(separator: " ")
    }
}

extension ChainStep: CustomStringConvertible {
    package var description: String {
        switch self {
        case .filter(let filter): filter.description
        case .custom(let step): step.description
        }
    }
}

extension CustomStep: CustomStringConvertible {
    package var description: String {
        Self.prefix + name + (arguments.isEmpty ? "" : "=" + QuotedText.canonicalArguments(arguments))
    }
}
