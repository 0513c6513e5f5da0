/// The error of a benchmark that could not be run or gave no result.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
