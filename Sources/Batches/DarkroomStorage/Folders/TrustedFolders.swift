import DarkroomFiles

/// The folders whose photos a process reads. Batches name their folders in Redis, where strangers may write; the process
/// reads only what is in these folders, and follows no links from them.
package struct TrustedFolders: Sendable {
    /// Each folder by the paths that a batch may use for it: as the user wrote it, and without links.
    private let roots: [(path: String, real: String)]

    /// - Parameter paths: absolute paths of folders that exist.
    package init(_ paths: [String]) {
        roots = paths.flatMap { path in
            let real = Path.real(path) ?? path
            return path == real ? [(path, real)] : [(path, real), (real, real)]
        }
    }

    /// The results in a folder; nil if the process does not read the folder.
    package func results(in folder: String) -> (any StoredResults)? {
        guard Path.isAbsolute(folder), !Path.climbs(folder) else { return nil }
        for (path, real) in roots {
            if let part = Folder.part(of: folder, below: path) { return FolderResults(root: real, path: part) }
        }
        return nil
    }
}
