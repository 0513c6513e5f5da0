/// The folder that downloaded bytes are kept in for good, by the SHA-256 of their URL: `--originals`.
///
/// Several batches may share one, also at the same time: that is what it is for.
package struct OriginalsFolder: Sendable {
    /// The folder's absolute path.
    package let path: String

    /// A folder by its absolute path.
    package init(path: String) { self.path = path }

    /// Makes the folder where it is missing, and writes a file to see that it can be written.
    package func prepare() throws(CoordinatorError) {
        let folder = WritableFolder(role: "originals folder", path: path)
        try folder.create()
        try folder.tryWriting()
    }
}
