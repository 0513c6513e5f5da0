import DarkroomFiles

/// The folders whose photos a server shows. Batches name their folders in Redis, where strangers may write; the server
/// reads only what is below these folders, and follows no links from them.
struct PhotoFolders: Sendable {
    /// A folder below one of the trusted folders.
    struct Place: Sendable {
        /// The trusted folder.
        let root: String
        /// The path of the folder, relative to `root`.
        let path: String

        /// Opens a regular file. Blocks.
        /// - Parameter file: the path relative to this folder.
        func open(_ file: String) throws(SystemFailure) -> (descriptor: Int32, size: Int) {
            try Folder(trusted: root).openFile(Path.joined(path, file))
        }
    }

    /// Each folder by the paths that a batch may use for it: as the user wrote it, and without links.
    private let roots: [(path: String, real: String)]

    /// - Parameter paths: absolute paths of folders that exist.
    init(_ paths: [String]) {
        roots = paths.flatMap { path in
            let real = Path.real(path) ?? path
            return path == real ? [(path, real)] : [(path, real), (real, real)]
        }
    }

    /// The place of a folder; nil if the server does not show its photos.
    func place(of folder: String) -> Place? {
        guard Path.isAbsolute(folder), !Path.climbs(folder) else { return nil }
        for (path, real) in roots {
            if let part = Folder.part(of: folder, below: path) { return Place(root: real, path: part) }
        }
        return nil
    }
}
