import DarkroomFiles
import DarkroomModel
import Foundation

/// Reads the results of photos from the `manifest/` folder in an output folder, even while workers are writing there.
///
/// The reader keeps in memory the file names of at most 1,000 operations, and the lines of one operation.
struct FolderManifest: ManifestSource {
    private let root: String
    /// The path of the output folder, relative to `root`.
    private let output: String
    private let maxFileBytes: Int

    /// - Parameters:
    ///   - folder: the path of the output folder, relative to `root`. Links in this path are not followed.
    ///   - root: the path of a folder. Links in this path are followed.
    ///   - maxFileBytes: the maximum size of a file that is read, in bytes.
    init(folder: String, below root: String, maxFileBytes: Int) {
        self.root = root
        output = folder
        self.maxFileBytes = maxFileBytes
    }

    private func folder(_ path: String) -> ManifestFolder {
        ManifestFolder(root: root, path: Path.joined(output, path), maxBytes: maxFileBytes)
    }

    func batches() throws(ManifestError) -> [BatchID] {
        guard let names = try folder("manifest").names() else {
            let output = output.isEmpty ? root : Path.joined(root, output)
            throw ManifestError(
                .noManifest,
                FileManager.default.fileExists(atPath: output)
                    ? "\(output): there is no folder \"manifest\" in it, so no batch wrote there; name the folder that "
                        + "a batch was given as its output"
                    : "\(output): no such folder")
        }
        return names.compactMap { BatchID($0) }.sorted()
    }

    func parts(of batch: BatchID) throws(ManifestError) -> [Int] {
        guard let names = try folder(ManifestPath.folder(batch)).names() else {
            return []
        }
        return [0] + names.compactMap(ManifestPath.part(folderName:)).sorted()
    }

    func part(_ number: Int, of batch: BatchID) throws(ManifestError) -> any ManifestPart {
        let subfolder = ManifestPath.subfolder(operation: number * ManifestParts.size)
        return try FolderManifestPart(of: batch, folder: folder(ManifestPath.folder(batch) + "/" + subfolder))
    }
}

/// A folder of a manifest in an output folder. Other users may write there, so symbolic links are not followed.
struct ManifestFolder: CustomStringConvertible {
    let root: String
    /// The path, relative to `root`.
    let path: String
    /// The maximum size of a file that is read, in bytes.
    let maxBytes: Int

    var description: String { root + "/" + path }

    /// The names of the files in the folder; nil if the folder does not exist.
    func names() throws(ManifestError) -> [String]? {
        try read(path) { (folder) throws(SystemFailure) in try folder.folder(path).names() }
    }

    /// The contents of a file in the folder; nil if the file does not exist.
    func contents(of name: String) throws(ManifestError) -> [UInt8]? {
        let file = Path.joined(path, name)
        return try read(file) { (folder) throws(SystemFailure) in
            try folder.contents(of: file, maxBytes: maxBytes)
        }
    }

    private func read<Value>(
        _ path: String, _ body: (Folder) throws(SystemFailure) -> Value
    ) throws(ManifestError) -> Value? {
        do throws(SystemFailure) {
            return try body(Folder(trusted: root))
        } catch {
            if error.error == ENOENT { return nil }
            throw ManifestError(.unreadable, "\(root)/\(path): \(error.text)")
        }
    }
}
