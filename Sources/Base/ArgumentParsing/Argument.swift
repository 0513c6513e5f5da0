import DarkroomText

/// A positional value on the command line.
///
/// An argument of optional type may be left out. An argument of array type takes all remaining values.
@propertyWrapper
package struct Argument<Value: Sendable>: DeclaredArgument, Sendable {
    private let declaration: Declaration<Value>

    package var wrappedValue: Value { declaration.parsed.current }

    /// Declares an argument that must be given.
    ///
    /// - Parameters:
    ///   - help: A sentence that describes the value.
    ///   - valueName: The name of the value in the help; by default the name of the property.
    package init(help: String, valueName: String = "") where Value: ExpressibleByArgument {
        declaration = .required(help: help, valueName: valueName)
    }

    /// Declares an argument that may be left out.
    package init<T: ExpressibleByArgument>(help: String, valueName: String = "") where Value == T? {
        declaration = .optional(help: help, valueName: valueName)
    }

    /// Declares an argument that takes all remaining values. If `isRequired`, at least one value must be given.
    package init<T: ExpressibleByArgument>(
        help: String, valueName: String = "", isRequired: Bool = false
    ) where Value == [T] {
        declaration = .repeating(isRequired: isRequired, help: help, valueName: valueName)
    }

    func definition(property: String) -> ArgumentDefinition {
        let valueName = declaration.valueName
        return declaration.definition(
            .positional, longName: valueName.isEmpty ? optionName(ofProperty: property) : valueName)
    }
}
