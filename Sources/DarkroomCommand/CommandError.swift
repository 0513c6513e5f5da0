/// Why a command could not do what it was asked: what, on what, what was found, what to do.
struct CommandError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
