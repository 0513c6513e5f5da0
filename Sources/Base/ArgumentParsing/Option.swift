import DarkroomText

/// The name of an option or flag on the command line.
package enum NameSpecification: Sendable {
    /// The name of the property: `operationSize` is `--operation-size`.
    case long
    /// The name of the property and its first letter: `output` is `--output` and `-o`.
    case shortAndLong
    /// The name of the option, written without dashes, if it differs from the name of the property.
    case customLong(String, short: Character? = nil)

    func names(ofProperty property: String) -> (long: String, short: Character?) {
        switch self {
        case .long: (optionName(ofProperty: property), nil)
        case .shortAndLong: (optionName(ofProperty: property), property.first)
        case .customLong(let long, let short): (long, short)
        }
    }
}

/// A named value: `--quality 85`, `--quality=85`, `-q 85`.
///
/// An option with an initial value or of optional type may be left out. An option of array type may be left out or
/// given several times. All other options must be given. If an option of another type is given several times, the last
/// value is used.
@propertyWrapper
package struct Option<Value: Sendable>: DeclaredArgument, Sendable {
    private let declaration: Declaration<Value>
    private let name: NameSpecification
    private let environment: String?
    private let synonyms: [String]

    package var wrappedValue: Value { declaration.parsed.current }

    /// Declares an option that must be given.
    ///
    /// - Parameters:
    ///   - name: The name of the option.
    ///   - help: A sentence that says what the option does.
    ///   - valueName: The name of the value in the help.
    ///   - environment: The environment variable that is read if the option is not given.
    ///   - synonyms: Other names, without dashes, that users may try.
    package init(
        name: NameSpecification = .long, help: String, valueName: String = "value", environment: String? = nil,
        synonyms: [String] = []
    ) where Value: ExpressibleByArgument {
        self.init(name, environment, synonyms, .required(help: help, valueName: valueName))
    }

    /// Declares an option with a default.
    package init(
        wrappedValue: Value, name: NameSpecification = .long, help: String, valueName: String = "value",
        environment: String? = nil,
        synonyms: [String] = []
    ) where Value: ExpressibleByArgument {
        self.init(name, environment, synonyms, .defaulted(wrappedValue, help: help, valueName: valueName))
    }

    /// Declares an option that may be left out.
    package init<T: ExpressibleByArgument>(
        name: NameSpecification = .long, help: String, valueName: String = "value", environment: String? = nil,
        synonyms: [String] = []
    ) where Value == T? {
        self.init(name, environment, synonyms, .optional(help: help, valueName: valueName))
    }

    /// Declares an option that may be given any number of times.
    package init<T: ExpressibleByArgument>(
        name: NameSpecification = .long, help: String, valueName: String = "value", synonyms: [String] = []
    ) where Value == [T] {
        self.init(name, nil, synonyms, .repeating(isRequired: false, help: help, valueName: valueName))
    }

    private init(
        _ name: NameSpecification, _ environment: String?, _ synonyms: [String], _ declaration: Declaration<Value>
    ) {
        self.name = name
        self.environment = environment
        self.synonyms = synonyms
        self.declaration = declaration
    }

    func definition(property: String) -> ArgumentDefinition {
        let (long, short) = name.names(ofProperty: property)
        var definition = declaration.definition(.option, longName: long)
        definition.shortName = short
        definition.environment = environment
        definition.synonyms = synonyms
        return definition
    }
}
