/// An error of a command. The description says what failed, on which object, what was found and what to do.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
