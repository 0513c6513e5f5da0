import DarkroomFiles
import Glibc

/// The results in an output folder. Other users may write there, so symbolic links in it are not followed.
struct FolderResults: StoredResults {
    /// The path of a folder. Links in this path are followed.
    let root: String
    /// The path of the output folder, relative to `root`; "" for `root` itself.
    let path: String

    func manifest(maxFileBytes: Int) -> any ManifestSource {
        FolderManifest(folder: path, below: root, maxFileBytes: maxFileBytes)
    }

    func open(_ file: String) throws(StoredFileError) -> StoredFile {
        do throws(SystemFailure) {
            let (descriptor, size) = try Folder(trusted: root).openFile(Path.joined(path, file))
            var status = stat()
            guard fstat(descriptor, &status) == 0 else {
                let error = errno
                close(descriptor)
                throw SystemFailure("look at", error)
            }
            let version = FileStamp(of: status).facts.map(String.init).joined(separator: " ")
            return StoredFile(descriptor: descriptor, size: size, version: version)
        } catch {
            throw StoredFileError(isMissing: error.error == ENOENT, error.text)
        }
    }
}
