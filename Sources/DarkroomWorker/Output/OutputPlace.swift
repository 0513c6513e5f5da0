import DarkroomFiles
import DarkroomModel
import Foundation

/// A folder that files are written to, perhaps on a share that is not always there.
struct OutputPlace: Hashable, Sendable {
    /// The absolute path.
    let folder: String
    /// The folder above it, or itself, whose path the user of this process gave: links on the way there are followed.
    /// Below it none is.
    let trusted: String
    /// What must be seen in it, relative to it, before anything is written there: the mount point of a share that is not
    /// mounted stays empty. Nil when the folder itself is all there is to see.
    let sign: String?
    /// The holder that must have the folder when a file gets its final name; nil if any batch may have it.
    let holder: FolderHolder?

    init(folder: String, trusted: String? = nil, sign: String?, holder: FolderHolder? = nil) {
        self.folder = folder
        self.trusted = trusted ?? folder
        self.sign = sign
        self.holder = holder
    }

    /// The absolute path of what must be seen.
    var signPath: String { sign.map { folder + "/" + $0 } ?? folder }

    /// Opens the folder when the sign is seen in it. All names below are looked up from there: whatever is mounted or
    /// unmounted meanwhile, files go where the sign was.
    /// - Throws: what the system said, with the verb `see`.
    func open() throws(SystemFailure) -> Folder {
        do throws(SystemFailure) {
            let root = try openTrusted().folder(Folder.part(of: folder, below: trusted) ?? "")
            if let sign { close(try root.open(sign, O_RDONLY | O_DIRECTORY)) }
            return root
        } catch {
            throw SystemFailure("see", error.error, error.text)
        }
    }

    /// Makes the folder, and a folder in it.
    func make(_ below: String) throws(SystemFailure) {
        let part = Folder.part(of: folder, below: trusted) ?? ""
        _ = try openTrusted().makeFolder([part, below].filter { !$0.isEmpty }.joined(separator: "/"))
    }

    /// Calls `body`, which puts a file in place, while the folder is its holder's.
    /// - Throws: ``SystemFailure`` with the verb `hold` when another has it.
    func whileHolding(_ root: Folder, _ body: () throws(SystemFailure) -> Void) throws(SystemFailure) {
        guard let holder else { return try body() }
        try holder.whileHolding(ManifestPath.holder, in: root, body)
    }

    private func openTrusted() throws(SystemFailure) -> Folder { try Folder(trusted: trusted) }
}

/// The folder of a batch's manifest, held open from the time before anything is written for operations of the batch until
/// they have been reported.
///
/// Whoever opens a file system after it lost data is not told when somebody else has been told meanwhile, see errseq(3) of
/// the kernel and syncfs(2): so it is opened before.
final class OpenFolder: Sendable {
    /// The folder itself.
    let folder: Folder
    /// Which file system it is on.
    let device: dev_t
    /// The smaller, the earlier it was opened.
    let opened: ContinuousClock.Instant
    private let node: ino_t
    private let place: OutputPlace

    /// Opens what must be seen in a place.
    /// - Throws: what the system said.
    init(_ place: OutputPlace) throws(SystemFailure) {
        opened = .now
        self.place = place
        folder = try place.open().folder(place.sign ?? "")
        let status = try folder.status()
        (device, node) = (status.st_dev, status.st_ino)
    }

    /// Whether this process may write there; otherwise errno says why not.
    var isWritable: Bool { faccessat(folder.descriptor, ".", W_OK, 0) == 0 }

    /// Whether its path still shows this folder, and not another one that was mounted there since.
    var isStillThere: Bool {
        guard let status = try? place.open().folder(place.sign ?? "").status() else { return false }
        return status.st_dev == device && status.st_ino == node
    }
}
