/// One declared argument, as the parser and the help see it.
struct ArgumentDefinition {
    enum Kind {
        /// A value found by its place.
        case positional
        /// A name followed by a value.
        case option
        /// A name alone.
        case flag
    }

    let kind: Kind
    /// Without dashes; of a positional argument, what messages call it.
    let longName: String
    var shortName: Character?
    let valueName: String
    let help: String
    /// The variable that has the value where the command line has none.
    var environment: String?
    /// The value if none is given, as text.
    var defaultText: String?
    var allowedTexts: [String] = []
    let isRequired: Bool
    let isRepeating: Bool
    /// Reads a value and keeps it.
    let store: (String) throws -> Void
    /// True once a value was kept.
    let isGiven: () -> Bool

    /// How messages and the help name it: `--quality`, `<list>`.
    var displayName: String {
        kind == .positional ? "<\(longName)>" : "--\(longName)"
    }
}

/// A group of definitions under one heading of the help.
struct ArgumentSection {
    let title: String
    var definitions: [ArgumentDefinition]
}

/// A property wrapper that declares an argument.
protocol DeclaredArgument {
    /// - Parameter property: the property's name.
    func definition(property: String) -> ArgumentDefinition
}

/// A property wrapper that declares a group of arguments.
protocol DeclaredGroup {
    var title: String { get }
    var arguments: any ParsableArguments { get }
}

extension ParsableArguments {
    /// What the properties of this value declare, in their order; values that are parsed are stored in this value.
    func sections(title: String = "Options") -> [ArgumentSection] {
        var own = ArgumentSection(title: title, definitions: [])
        var groups: [ArgumentSection] = []
        for child in Mirror(reflecting: self).children {
            // A wrapped property `name` is stored as `_name`.
            let property = String((child.label ?? "").drop { $0 == "_" })
            if let argument = child.value as? any DeclaredArgument {
                own.definitions.append(argument.definition(property: property))
            } else if let group = child.value as? any DeclaredGroup {
                groups += group.arguments.sections(title: group.title)
            }
        }
        return [own] + groups
    }

    /// The groups among the properties, this value last.
    func withGroups() -> [any ParsableArguments] {
        Mirror(reflecting: self).children.flatMap {
            ($0.value as? any DeclaredGroup)?.arguments.withGroups() ?? []
        } + [self]
    }
}

/// Where a declared property's value is kept from parsing on.
///
/// Unchecked: written by the parser alone, before the command is handed to anybody, and only read from then on.
final class ParsedValue<Value: Sendable>: @unchecked Sendable {
    private var value: Value?
    /// True once another value than the first was kept.
    private(set) var isGiven = false

    init(_ value: Value?) {
        self.value = value
    }

    var current: Value {
        get {
            guard let value else { preconditionFailure("an argument was read before its command was parsed") }
            return value
        }
        set {
            value = newValue
            isGiven = true
        }
    }
}

/// Spells a property's name as an option: `operationSize` is `operation-size`.
func optionName(ofProperty property: String) -> String {
    property.reduce(into: "") { name, character in
        name += character.isUppercase ? "-\(character.lowercased())" : String(character)
    }
}
