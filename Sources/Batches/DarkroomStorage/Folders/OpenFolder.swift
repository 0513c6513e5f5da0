import DarkroomFiles
import DarkroomModel
import Foundation

/// The open folder of a batch's manifest. The folder is opened before any file of an operation is written, and stays
/// open until the operation is reported.
///
/// If a file system loses data, syncfs(2) reports the error only on descriptors that were open before the loss
/// (`errseq_t` in the kernel).
final class OpenFolder: Sendable {
    private let folder: Folder
    private let device: dev_t
    let opened: ContinuousClock.Instant
    /// The folders of renditions on other file systems, by device. Each is a mount point, and was open before a file was
    /// written to it.
    private let mounted: [dev_t: Folder]
    private let node: ino_t
    private let place: OutputPlace
    private let renditions: [String]

    /// Opens the folder of the marker.
    /// - Parameter renditions: the folders of renditions, relative to the folder of `place`. They need not exist.
    /// - Throws: the error of the system.
    init(_ place: OutputPlace, renditions: [String] = []) throws(SystemFailure) {
        opened = .now
        self.place = place
        self.renditions = renditions
        let root = try place.open()
        folder = try root.folder(place.marker ?? "")
        let status = try folder.status()
        (device, node) = (status.st_dev, status.st_ino)
        mounted = Self.mounted(renditions, in: root, besides: device)
    }

    private static func mounted(_ renditions: [String], in root: Folder, besides device: dev_t) -> [dev_t: Folder] {
        var found: [dev_t: Folder] = [:]
        for name in renditions {
            // A missing folder will be created in the output folder. If a folder cannot be opened, the write reports
            // the error.
            guard let folder = try? root.folder(name), let status = try? folder.status(), status.st_dev != device
            else { continue }
            found[status.st_dev] = folder
        }
        return found
    }

    /// A folder on each file system to which files of the batch are written.
    var parts: [(device: dev_t, folder: Folder)] { [(device, folder)] + mounted.map { ($0.key, $0.value) } }

    /// Whether this process may write to the folder. If not, `errno` contains the reason.
    var isWritable: Bool { faccessat(folder.descriptor, ".", W_OK, 0) == 0 }

    /// Whether the path still leads to this folder, and the folders of renditions are on the same file systems as
    /// before. False if another file system was mounted later.
    var isStillThere: Bool {
        // A folder that cannot be opened counts as another folder: the worker gives up its unreported operations, which
        // run again.
        guard let root = try? place.open(), let status = try? root.folder(place.marker ?? "").status(),
            status.st_dev == device, status.st_ino == node
        else { return false }
        return Self.mounted(renditions, in: root, besides: device).keys == mounted.keys
    }
}
