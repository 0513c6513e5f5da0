/// The error of a manifest that cannot be read.
package struct ManifestError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    package struct Code: Sendable, Hashable {
        private enum Kind { case noManifest, unreadable, damaged }
        private let kind: Kind
        /// The folder does not exist, or it contains no manifest.
        package static let noManifest = Code(kind: .noManifest)
        /// The file system reported an error.
        package static let unreadable = Code(kind: .unreadable)
        /// A file contains a line that is not a manifest line.
        package static let damaged = Code(kind: .damaged)
    }

    /// The kind of failure.
    package let code: Code
    /// The file or folder, what was found, and what to do.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
