/// An option without a value: `--json`.
@propertyWrapper
package struct Flag: DeclaredArgument, Sendable {
    private let parsed = ParsedValue(false)
    private let name: NameSpecification
    private let help: String
    private let synonyms: [String]

    package var wrappedValue: Bool { parsed.current }

    /// Declares a flag.
    ///
    /// - Parameters:
    ///   - name: The name of the flag.
    ///   - help: A sentence that says what the flag does.
    ///   - synonyms: Other names, without dashes, that users may try.
    package init(name: NameSpecification = .long, help: String, synonyms: [String] = []) {
        self.name = name
        self.help = help
        self.synonyms = synonyms
    }

    func definition(property: String) -> ArgumentDefinition {
        let (long, short) = name.names(ofProperty: property)
        return ArgumentDefinition(
            kind: .flag, longName: long, shortName: short, valueName: "", help: help, synonyms: synonyms,
            isRequired: false,
            isRepeating: false, store: { [parsed] _ in parsed.current = true },
            isGiven: { [parsed] in parsed.isGiven })
    }
}
