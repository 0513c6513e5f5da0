import ArgumentParsing

/// The option of commands that print a ``Table``.
struct TableOptions: ParsableArguments {
    @Flag(help: "Print the names of the columns first, also into a pipe or a file.") var header: Bool

    /// Throws if the output is not a table.
    /// - Parameter isTable: Whether no other format of the output is given.
    func require(isTable: Bool) throws(ValidationError) {
        guard header, !isTable else { return }
        throw ValidationError("--header: only for a table; leave it out")
    }
}
