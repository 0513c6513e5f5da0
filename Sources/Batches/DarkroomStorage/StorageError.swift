import DarkroomModel

/// The reason why a place cannot be used for the results of a batch.
package struct StorageError: Error, Remediable {
    package enum Code: Sendable {
        /// The place cannot be created, read or written.
        case denied
        /// Another batch has results there.
        case taken
    }

    package let code: Code
    package let problem: String
    package let remedies: [Remedy]

    /// - Parameter problem: the place, the defect, and the remedy if there are no `remedies`.
    package init(_ code: Code, _ problem: String, _ remedies: Remedy...) {
        self.code = code
        self.problem = problem
        self.remedies = remedies
    }
}
