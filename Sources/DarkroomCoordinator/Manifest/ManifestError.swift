/// Why a manifest could not be read.
package struct ManifestError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        /// The folder has no manifest or does not exist.
        case noManifest
        /// The file system reported an error.
        case unreadable
        /// A file has a line that is no manifest line.
        case damaged
    }

    package let code: Code
    /// On which file or folder, what was found, and what to do.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
