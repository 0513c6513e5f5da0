/// The folder given by `--originals`, which keeps downloaded bytes permanently, by the SHA-256 of their URL.
///
/// Several batches may share a folder, even at the same time.
package struct OriginalsFolder: Sendable {
    /// The absolute path of the folder.
    package let path: String

    /// A folder with this absolute path.
    package init(path: String) { self.path = path }

    /// Creates the folder if it is missing. Writes a file to check that the folder is writable.
    package func prepare() throws(CoordinatorError) {
        let folder = WritableFolder(role: "originals folder", path: path)
        try folder.create()
        try folder.tryWriting()
    }
}
