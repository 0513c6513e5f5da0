import DarkroomFiles
import DarkroomModel
import Foundation

/// A folder that files are written to, possibly on a share that is not always mounted.
package struct OutputPlace: Hashable, Sendable {
    /// The absolute path.
    package let folder: String
    /// The folder above it, or itself, whose path the user of this process gave. Symbolic links in this path are followed, and
    /// none below it.
    package let trusted: String
    /// The path, relative to the folder, of the marker: a folder that must exist before files are written. It prevents writing to
    /// the empty mount point of an unmounted share. Nil if the folder itself is enough.
    package let marker: String?
    /// The batch that must hold the folder when a file gets its final name; nil if no batch needs to hold it.
    package let holder: FolderHolder?

    package init(folder: String, trusted: String? = nil, marker: String?, holder: FolderHolder? = nil) {
        self.folder = folder
        self.trusted = trusted ?? folder
        self.marker = marker
        self.holder = holder
    }

    package var markerPath: String { marker.map { folder + "/" + $0 } ?? folder }

    /// Opens the folder if the marker exists. Callers open files relative to the open folder, so that files go where the marker
    /// was, even if a file system is mounted or unmounted in the meantime.
    /// - Throws: the error of the system, with the verb `see`.
    package func open() throws(SystemFailure) -> Folder {
        do throws(SystemFailure) {
            let root = try openTrusted().folder(Folder.part(of: folder, below: trusted) ?? "")
            if let marker { close(try root.open(marker, O_RDONLY | O_DIRECTORY)) }
            return root
        } catch {
            throw SystemFailure("see", error.error, error.text)
        }
    }

    /// Creates the folder, and the folder `below` in it.
    package func make(_ below: String) throws(SystemFailure) {
        let part = Folder.part(of: folder, below: trusted) ?? ""
        _ = try openTrusted().makeFolder([part, below].filter { !$0.isEmpty }.joined(separator: "/"))
    }

    /// Calls `body`, which gives a file its final name, while the batch holds the folder.
    /// - Throws: ``SystemFailure`` with the verb `hold` if another batch holds it.
    package func whileHolding(_ root: Folder, _ body: () throws(SystemFailure) -> Void) throws(SystemFailure) {
        guard let holder else { return try body() }
        try holder.whileHolding(ManifestPath.holder, in: root, body)
    }

    private func openTrusted() throws(SystemFailure) -> Folder { try Folder(trusted: trusted) }
}

/// The open folder of a batch's manifest. It is opened before any file of an operation is written, and stays open until the
/// operation is reported.
///
/// If a file system loses data, syncfs(2) reports the error only through descriptors that were open before the loss (errseq in
/// the kernel).
package final class OpenFolder: Sendable {
    package let folder: Folder
    package let device: dev_t
    package let opened: ContinuousClock.Instant
    private let node: ino_t
    private let place: OutputPlace

    /// Opens the marker of a place.
    /// - Throws: the error of the system.
    package init(_ place: OutputPlace) throws(SystemFailure) {
        opened = .now
        self.place = place
        folder = try place.open().folder(place.marker ?? "")
        let status = try folder.status()
        (device, node) = (status.st_dev, status.st_ino)
    }

    /// Whether this process may write to it; if not, errno gives the reason.
    package var isWritable: Bool { faccessat(folder.descriptor, ".", W_OK, 0) == 0 }

    /// Whether its path still leads to this folder, and not to another one that was mounted there since.
    package var isStillThere: Bool {
        guard let status = try? place.open().folder(place.marker ?? "").status() else { return false }
        return status.st_dev == device && status.st_ino == node
    }
}
