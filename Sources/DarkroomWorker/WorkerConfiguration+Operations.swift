import DarkroomExecution
import DarkroomModel

extension WorkerConfiguration {
    /// Makes a type's operations available to batches with the filter `x:<name>`; a name that was registered before is
    /// taken over.
    /// - Throws: `InvalidOwnFilter` when the name has other characters than `A-Z a-z 0-9 _ -`, or more than 64.
    public mutating func register<Operation: PhotoOperation>(
        _ type: Operation.Type, as name: String
    ) throws(InvalidOwnFilter) {
        try register(as: name) { Operation() }
    }

    /// Makes the operations that `make` makes available to batches with the filter `x:<name>`, for operations that need
    /// more than their type knows. `make` is called for each photo, on the thread that runs it, and must be quick.
    /// - Throws: `InvalidOwnFilter` when the name has other characters than `A-Z a-z 0-9 _ -`, or more than 64.
    public mutating func register(
        as name: String, making make: @escaping @Sendable () -> any PhotoOperation
    ) throws(InvalidOwnFilter) {
        guard OwnFilter.isName(name) else {
            throw InvalidOwnFilter(
                description: "operation \"\(name)\": a name has 1 to 64 stateCodes, digits, \"_\" and \"-\"")
        }
        operations[name] = make
    }
}
