import DarkroomModel
import DarkroomStorage
import DarkroomStore

/// Checks whether a batch would be accepted. Reads folders and Redis, and writes nothing.
package struct SubmissionCheck {
    private let options: BatchOptions
    private let overwrite: Bool
    /// The Redis to which the batch would be submitted; nil if Redis is not checked.
    private let store: BatchStore?

    package init(_ options: BatchOptions, overwrite: Bool, store: BatchStore?) {
        self.options = options
        self.overwrite = overwrite
        self.store = store
    }

    /// Throws the error with which
    /// ``Coordinator/submit(_:as:options:after:overwrite:within:onSubmitted:beforeTrying:)`` would refuse the batch.
    /// Errors that cannot be found without writing are not thrown.
    /// - Returns: whether the output folder exists; nil if it is not on this machine.
    @discardableResult
    package func run() throws -> Bool? {
        let outputExists = options.remoteOutput ? nil : try checkFolders()
        if let store { try check(store) }
        return outputExists
    }

    private func check(_ store: BatchStore) throws {
        if !options.name.isEmpty, let other = try store.holder(ofName: options.name), other.isOpen {
            throw CoordinatorError.nameTaken(options.name, by: other.id)
        }
        if !overwrite, !options.output.isEmpty, let other = try store.holder(ofOutput: options.output) {
            throw CoordinatorError.outputTaken(StorageSchemes.place(options.output), by: other.id)
        }
    }

    private func checkFolders() throws -> Bool? {
        if !options.originals.isEmpty {
            _ = try CoordinatorError.storing { () throws(StorageError) in
                try WritableFolder(role: "originals folder", path: options.originals).examine()
            }
        }
        guard !options.output.isEmpty else { return nil }
        let place = StorageSchemes.place(options.output)
        let origin = overwrite ? nil : try store?.identity()
        return try CoordinatorError.storing { () throws(StorageError) in
            if !overwrite {
                try place.checkFree(origin: origin) { other in
                    // If Redis cannot be read, the batch counts as existing.
                    (try? store?.facts(of: [other]))?.isEmpty ?? false
                }
            }
            return try place.examine(renditions: options.renditions.map(\.name))
        }
    }
}
