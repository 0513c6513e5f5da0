import DarkroomWorker

extension PhotoWorkerConfiguration {
    /// Registers a custom filter for batches with the filter ``PhotoFilter/custom(_:arguments:)`` of this name.
    /// Replaces a filter that was registered with the same name.
    /// - Parameters:
    ///   - name: 1 to 64 ASCII letters, digits, `_` and `-`.
    ///   - make: creates a filter. Called for each photo, on the thread of the filter. Must return quickly.
    /// - Throws: ``DarkroomError`` with the code `invalidConfiguration` if the name is invalid.
    public mutating func register(_ name: String, _ make: @escaping @Sendable () -> any CustomFilter) throws {
        do {
            try addFilter(name, make)
        } catch {
            throw DarkroomError(
                .invalidConfiguration, "register the custom filter \"\(name)\"", "\(error)", cause: error)
        }
    }
}
