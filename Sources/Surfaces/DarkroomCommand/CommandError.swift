/// An error of a command. The description names the failed action, its object, the finding and the remedy.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
