/// An error that ends a test.
struct TestFailure: Error, CustomStringConvertible {
    let description: String
}
