/// Why a place cannot be used for the results of a batch.
package struct StorageError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        /// The place cannot be created, read or written.
        case denied
        /// Another batch has results there.
        case taken
    }

    package let code: Code
    /// The place, what was found, and what to do.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
