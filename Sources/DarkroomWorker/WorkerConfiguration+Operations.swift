import DarkroomModel

extension WorkerConfiguration {
    /// Registers a custom operation for batches with the filter `x:<name>`. Replaces an operation that has the same
    /// name. `make` is called for each photo, on the thread that runs the operation, and must return quickly.
    /// - Throws: `InvalidCustomFilter` if the name is invalid.
    package mutating func register(
        _ name: String, _ make: @escaping @Sendable () -> any PhotoOperation
    ) throws(InvalidCustomFilter) {
        guard CustomFilter.isName(name) else {
            throw InvalidCustomFilter(
                description: "operation \"\(name)\": a name has 1 to 64 letters, digits, \"_\" and \"-\"")
        }
        operations[name] = make
    }
}
