/// Why a manifest could not be read.
public struct ManifestError: Error, Sendable, CustomStringConvertible {
    /// What kind of failure it is.
    public struct Code: Sendable, Hashable {
        private enum Kind { case noManifest, unreadable, damaged }
        private let kind: Kind
        /// There is no manifest in that folder, or no such folder.
        public static let noManifest = Code(kind: .noManifest)
        /// The file system refuses.
        public static let unreadable = Code(kind: .unreadable)
        /// A file holds something else than lines of photos.
        public static let damaged = Code(kind: .damaged)
    }

    /// What kind of failure it is.
    public let code: Code
    /// On what, what was found, what to do.
    public let description: String

    init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
