/// A name that is given or not: `--json`.
@propertyWrapper
package struct Flag: DeclaredArgument, Sendable {
    private let parsed = ParsedValue(false)
    private let name: NameSpecification
    private let help: String

    /// Whether it was given.
    package var wrappedValue: Bool { parsed.current }

    /// Declares a flag.
    ///
    /// - Parameters:
    ///   - name: what it is called.
    ///   - help: what it does, a sentence.
    package init(name: NameSpecification = .long, help: String) {
        self.name = name
        self.help = help
    }

    func definition(property: String) -> ArgumentDefinition {
        let (long, short) = name.names(ofProperty: property)
        return ArgumentDefinition(
            kind: .flag, longName: long, shortName: short, valueName: "", help: help, isRequired: false,
            isRepeating: false, store: { [parsed] _ in parsed.current = true },
            isGiven: { [parsed] in parsed.isGiven })
    }
}
