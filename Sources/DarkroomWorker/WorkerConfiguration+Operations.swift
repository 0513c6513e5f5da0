import DarkroomModel

extension WorkerConfiguration {
    /// Makes the operations that `make` makes available to batches with the filter `x:<name>`. A name that was registered before is
    /// taken over. `make` is called for each photo, on the thread that runs the operation, and must be quick.
    /// - Throws: `InvalidCustomFilter` if the name is no such name.
    package mutating func register(
        _ name: String, _ make: @escaping @Sendable () -> any PhotoOperation
    ) throws(InvalidCustomFilter) {
        guard CustomFilter.isName(name) else {
            throw InvalidCustomFilter(
                description: "operation \"\(name)\": a name has 1 to 64 stateCodes, digits, \"_\" and \"-\"")
        }
        operations[name] = make
    }
}
