/// Why a manifest could not be read.
package struct ManifestError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    package struct Code: Sendable, Hashable {
        private enum Kind { case noManifest, unreadable, damaged }
        private let kind: Kind
        /// There is no manifest in that folder, or no such folder.
        package static let noManifest = Code(kind: .noManifest)
        /// The file system refuses.
        package static let unreadable = Code(kind: .unreadable)
        /// A file holds something else than lines of photos.
        package static let damaged = Code(kind: .damaged)
    }

    /// What kind of failure it is.
    package let code: Code
    /// On what, what was found, what to do.
    package let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
