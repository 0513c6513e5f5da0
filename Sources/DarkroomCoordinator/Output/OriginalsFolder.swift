/// The folder that keeps downloaded bytes permanently, by the SHA-256 of their URL: `--originals`.
///
/// Several batches may share one, also at the same time.
package struct OriginalsFolder: Sendable {
    /// The folder's absolute path.
    package let path: String

    /// A folder by its absolute path.
    package init(path: String) { self.path = path }

    /// Creates the folder if it is missing, and writes a file to check that the folder can be written to.
    package func prepare() throws(CoordinatorError) {
        let folder = WritableFolder(role: "originals folder", path: path)
        try folder.create()
        try folder.tryWriting()
    }
}
