import DarkroomFiles

/// The places whose photos a process reads. Batches name their places in Redis, where untrusted users may write; the
/// process reads only files in these places.
package struct TrustedPlaces: Sendable {
    /// The locations, as the user of the process named them.
    package let locations: [String]
    /// The folders among the locations, by the paths that a batch may use for them: the path that the user wrote, and
    /// the path without links. Links in these folders are not followed.
    private let folders: [(path: String, real: String)]

    /// - Parameter locations: the locations. An existing folder must have an absolute path.
    package init(_ locations: [String]) {
        self.locations = locations
        folders = locations.flatMap { path in
            let real = Path.real(path) ?? path
            return path == real ? [(path, real)] : [(path, real), (real, real)]
        }
    }

    /// The folder that contains a path, and the rest of the path; nil if the process does not read the path.
    func folder(containing path: String) -> (root: String, part: String)? {
        guard Path.isAbsolute(path), !Path.climbs(path) else { return nil }
        return folders.lazy.compactMap { folder, real in Folder.part(of: path, below: folder).map { (real, $0) } }.first
    }
}
