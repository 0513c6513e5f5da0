/// The error of a manifest that cannot be read.
package struct ManifestError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable {
        /// The folder does not exist, or it contains no manifest.
        case noManifest
        /// The file system reported an error.
        case unreadable
        /// A file contains a line that is not a manifest line.
        case damaged
    }

    package let code: Code
    /// The file or folder, the defect, and the remedy.
    package let description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
