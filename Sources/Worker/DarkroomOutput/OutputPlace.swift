import DarkroomFiles
import DarkroomModel
import Foundation

/// A folder to which files are written. It may be on a share that is not always mounted.
package struct OutputPlace: Hashable, Sendable {
    /// The absolute path of the folder.
    package let folder: String
    /// The path of the folder or of a folder that contains it, as the user of this process gave it. Symbolic links in
    /// this path are followed; links below it are not.
    package let trusted: String
    /// The path of the marker, relative to the folder. The marker is a folder that must exist before files are written,
    /// which prevents writing to the empty mount point of an unmounted share. Nil if no marker is required.
    package let marker: String?
    /// The batch that must hold the folder when a file gets its final name; nil if no holder is required.
    package let holder: FolderHolder?

    package init(folder: String, trusted: String? = nil, marker: String?, holder: FolderHolder? = nil) {
        self.folder = folder
        self.trusted = trusted ?? folder
        self.marker = marker
        self.holder = holder
    }

    package var markerPath: String { marker.map { folder + "/" + $0 } ?? folder }

    /// Opens the folder if the marker exists. Callers open files relative to the result, so that the files are in the
    /// folder of the marker, even if a file system is mounted or unmounted in the meantime.
    /// - Throws: the error of the system, with `see` as the attempted action.
    package func open() throws(SystemFailure) -> Folder {
        do throws(SystemFailure) {
            let root = try openTrusted().folder(Folder.part(of: folder, below: trusted) ?? "")
            if let marker { close(try root.open(marker, O_RDONLY | O_DIRECTORY)) }
            return root
        } catch {
            throw SystemFailure("see", error.error, error.text)
        }
    }

    /// Creates the folder, and its subfolder `below`.
    package func make(_ below: String) throws(SystemFailure) {
        let part = Folder.part(of: folder, below: trusted) ?? ""
        _ = try openTrusted().makeFolder([part, below].filter { !$0.isEmpty }.joined(separator: "/"))
    }

    /// Calls `body` while the batch holds the folder. `body` gives a file its final name.
    /// - Throws: ``SystemFailure`` with the attempted action `hold` if another batch holds the folder.
    package func whileHolding(_ root: Folder, _ body: () throws(SystemFailure) -> Void) throws(SystemFailure) {
        guard let holder else { return try body() }
        try holder.whileHolding(ManifestPath.holder, in: root, body)
    }

    private func openTrusted() throws(SystemFailure) -> Folder { try Folder(trusted: trusted) }
}

/// The open folder of a batch's manifest. It is opened before any file of an operation is written. It stays open until
/// the operation is reported.
///
/// If a file system loses data, syncfs(2) reports the error only on descriptors that were open before the loss
/// (`errseq_t` in the kernel).
package final class OpenFolder: Sendable {
    package let folder: Folder
    package let device: dev_t
    package let opened: ContinuousClock.Instant
    /// The folders of renditions on other file systems, by device. Each is a mount point, and was open before a file was
    /// written to it.
    package let mounted: [dev_t: Folder]
    private let node: ino_t
    private let place: OutputPlace
    private let renditions: [String]

    /// Opens the folder of the marker.
    /// - Parameter renditions: the folders of renditions, relative to the folder of `place`. They need not exist.
    /// - Throws: the error of the system.
    package init(_ place: OutputPlace, renditions: [String] = []) throws(SystemFailure) {
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
            // A folder that is missing or cannot be opened is created in the output folder, or the write reports the error.
            guard let folder = try? root.folder(name), let status = try? folder.status(), status.st_dev != device
            else { continue }
            found[status.st_dev] = folder
        }
        return found
    }

    /// Whether files of the batch are on this file system.
    package func uses(_ device: dev_t) -> Bool { device == self.device || mounted[device] != nil }

    /// Whether this process may write to the folder. If not, `errno` contains the reason.
    package var isWritable: Bool { faccessat(folder.descriptor, ".", W_OK, 0) == 0 }

    /// Whether the path still leads to this folder, and not to a folder that was mounted in the meantime, and whether
    /// the folders of renditions are on the same file systems as before.
    package var isStillThere: Bool {
        guard let root = try? place.open(), let status = try? root.folder(place.marker ?? "").status(),
            status.st_dev == device, status.st_ino == node
        else { return false }
        return Self.mounted(renditions, in: root, besides: device).keys == mounted.keys
    }
}
