import DarkroomFiles
import DarkroomModel
import Foundation

/// A folder that files are written to, perhaps on a share that is not always there.
package struct OutputPlace: Hashable, Sendable {
    /// The absolute path.
    package let folder: String
    /// The folder above it, or itself, whose path the user of this process gave. Symbolic links are followed on the way there, and
    /// never below it.
    package let trusted: String
    /// The path, relative to the folder, of what must exist before anything is written there: so nothing is written to the empty
    /// mount point of a share that is not mounted. Nil when the folder itself is enough.
    package let marker: String?
    /// The batch that must hold the folder when a file gets its final name; nil if any batch may hold it.
    package let holder: FolderHolder?

    package init(folder: String, trusted: String? = nil, marker: String?, holder: FolderHolder? = nil) {
        self.folder = folder
        self.trusted = trusted ?? folder
        self.marker = marker
        self.holder = holder
    }

    /// The absolute path of the marker.
    package var markerPath: String { marker.map { folder + "/" + $0 } ?? folder }

    /// Opens the folder if the marker exists. All names below are looked up from the open folder: whatever is mounted or
    /// unmounted meanwhile, files go where the marker was.
    /// - Throws: what the system said, with the verb `see`.
    package func open() throws(SystemFailure) -> Folder {
        do throws(SystemFailure) {
            let root = try openTrusted().folder(Folder.part(of: folder, below: trusted) ?? "")
            if let marker { close(try root.open(marker, O_RDONLY | O_DIRECTORY)) }
            return root
        } catch {
            throw SystemFailure("see", error.error, error.text)
        }
    }

    /// Makes the folder, and a folder in it.
    package func make(_ below: String) throws(SystemFailure) {
        let part = Folder.part(of: folder, below: trusted) ?? ""
        _ = try openTrusted().makeFolder([part, below].filter { !$0.isEmpty }.joined(separator: "/"))
    }

    /// Calls `body`, which places a file, while the batch holds the folder.
    /// - Throws: ``SystemFailure`` with the verb `hold` when another has it.
    package func whileHolding(_ root: Folder, _ body: () throws(SystemFailure) -> Void) throws(SystemFailure) {
        guard let holder else { return try body() }
        try holder.whileHolding(ManifestPath.holder, in: root, body)
    }

    private func openTrusted() throws(SystemFailure) -> Folder { try Folder(trusted: trusted) }
}

/// The folder of a batch's manifest, held open from the time before anything is written for operations of the batch until
/// they have been reported.
///
/// If a file system loses data, syncfs(2) reports the error only through descriptors that were open before the loss (errseq in
/// the kernel). So the folder is opened before anything is written.
package final class OpenFolder: Sendable {
    /// The folder itself.
    package let folder: Folder
    /// Which file system it is on.
    package let device: dev_t
    /// When it was opened.
    package let opened: ContinuousClock.Instant
    private let node: ino_t
    private let place: OutputPlace

    /// Opens the marker of a place.
    /// - Throws: what the system said.
    package init(_ place: OutputPlace) throws(SystemFailure) {
        opened = .now
        self.place = place
        folder = try place.open().folder(place.marker ?? "")
        let status = try folder.status()
        (device, node) = (status.st_dev, status.st_ino)
    }

    /// Whether this process may write there; otherwise errno says why not.
    package var isWritable: Bool { faccessat(folder.descriptor, ".", W_OK, 0) == 0 }

    /// Whether its path still shows this folder, and not another one that was mounted there since.
    package var isStillThere: Bool {
        guard let status = try? place.open().folder(place.marker ?? "").status() else { return false }
        return status.st_dev == device && status.st_ino == node
    }
}
