/// Arguments that several commands share, declared by a separate type.
@propertyWrapper
package struct OptionGroup<Arguments: ParsableArguments>: DeclaredGroup, Sendable {
    package let wrappedValue: Arguments
    let title: String

    var arguments: any ParsableArguments { wrappedValue }

    /// Declares the arguments of a type under a heading of the help.
    package init(title: String = "Options") {
        self.title = title
        wrappedValue = Arguments()
    }
}
