/// A value given by its place on the command line.
///
/// A property of optional type may be left out, one of array type takes all that are left.
@propertyWrapper
package struct Argument<Value: Sendable>: DeclaredArgument, Sendable {
    private let declaration: Declaration<Value>

    /// The value.
    package var wrappedValue: Value { declaration.parsed.current }

    /// Declares an argument that must be given.
    ///
    /// - Parameters:
    ///   - help: what it is, a sentence.
    ///   - valueName: what the help calls it, unless the property's name.
    package init(help: String, valueName: String = "") where Value: ExpressibleByArgument {
        declaration = .required(help: help, valueName: valueName)
    }

    /// Declares an argument that may be left out.
    package init<T: ExpressibleByArgument>(help: String, valueName: String = "") where Value == T? {
        declaration = .optional(help: help, valueName: valueName)
    }

    /// Declares an argument that takes all values that are left, at least one if so told.
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
