/// An error that a test throws to end itself.
struct TestFailure: Error, CustomStringConvertible {
    let description: String
}
