/// What a test found that keeps it from going on.
struct TestFailure: Error, CustomStringConvertible {
    let description: String
}
