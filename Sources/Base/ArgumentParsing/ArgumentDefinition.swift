/// The definition of one declared argument, for the parser and the help.
struct ArgumentDefinition {
    enum Kind {
        /// A value without a name.
        case positional
        /// A name followed by a value.
        case option
        /// A name without a value.
        case flag
    }

    let kind: Kind
    /// The name without dashes; for a positional argument, its name in messages.
    let longName: String
    var shortName: Character?
    let valueName: String
    let help: String
    /// Other names, without dashes, that users may try. If a user gives such a name, the error suggests this option.
    var synonyms: [String] = []
    /// The environment variable that gives the value if the command line does not.
    var environment: String?
    /// The default value as text.
    var defaultText: String?
    var allowedTexts: [String] = []
    let isRequired: Bool
    let isRepeating: Bool
    /// Parses a value and stores it.
    let store: (String) throws -> Void
    /// Whether a value was stored.
    let isGiven: () -> Bool

    /// The name in messages and in the help: `--quality`, `<list>`.
    var displayName: String { kind == .positional ? "<\(longName)>" : "--\(longName)" }

    /// The argument with its value: `<list>`, `--output <folder>`.
    var usage: String { kind == .option ? "\(displayName) <\(valueName)>" : displayName }
}

/// A group of definitions under one heading of the help.
struct ArgumentSection {
    let title: String
    var definitions: [ArgumentDefinition]
}

/// A property wrapper that declares an argument.
protocol DeclaredArgument {
    /// - Parameter property: The name of the property.
    func definition(property: String) -> ArgumentDefinition
}

/// A property wrapper that declares a group of arguments.
protocol DeclaredGroup {
    var title: String { get }
    var arguments: any ParsableArguments { get }
}

extension ParsableArguments {
    /// The definitions of the properties, in the order of the declarations. The parser sets the properties through
    /// these definitions.
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

    /// The option groups of this value, with the groups that they contain, followed by this value itself.
    func withGroups() -> [any ParsableArguments] {
        Mirror(reflecting: self).children.flatMap {
            ($0.value as? any DeclaredGroup)?.arguments.withGroups() ?? []
        } + [self]
    }
}

/// The storage of a declared property.
///
/// Unchecked: only the parser writes the value, before the command is returned; after that the value is only read.
final class ParsedValue<Value: Sendable>: @unchecked Sendable {
    private var value: Value?
    /// Whether a value was set after `init`.
    private(set) var isGiven = false

    init(_ value: Value?) { self.value = value }

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

/// Converts the name of a property to the name of an option: `operationSize` becomes `operation-size`.
package func optionName(ofProperty property: String) -> String {
    property.reduce(into: "") { name, character in
        name += character.isUppercase ? "-\(character.lowercased())" : String(character)
    }
}
