import DarkroomFiles
import Foundation

/// The reason why files temporarily cannot be written to a folder: a condition of the machine, not a failure of a
/// photo.
package struct OutputFault: Sendable, Equatable {
    package enum Kind: Sendable {
        /// The disk, or the quota of the user, is full.
        case full
        /// The disk has lost data.
        case failing
        /// The file system is mounted read-only.
        case readOnly
        /// The folder is missing or cannot be used.
        case away
        /// Another batch has taken the folder.
        case taken
    }

    package let kind: Kind
    package let place: OutputPlace
    /// The subfolder in which a file could not be written, relative to `place`; "" for `place` itself.
    package let folder: String
    /// The number of bytes that must be free before the fault is over.
    package var bytes: Int
    /// The cause of the fault, and the remedy.
    package let detail: String

    /// Whether the fault affects all files on the same file system.
    package var isOfDevice: Bool { kind != .away && kind != .taken }

    /// With fewer free bytes the disk counts as full, because the next few photos would fill it.
    package static let leastRoom = 1 << 20

    package init(_ kind: Kind, _ place: OutputPlace, folder: String, bytes: Int, detail: String) {
        self.kind = kind
        self.place = place
        self.folder = folder
        self.bytes = bytes
        self.detail = detail
    }

    /// Creates the fault that caused a failure; nil if the failure affects only this file. Blocks.
    package init?(_ failure: OutputWriter.Failure) {
        let (place, folder) = (failure.place, failure.folder)
        if failure.reason == .diskFull {
            let bytes = max(Self.leastRoom, 4 * failure.bytes)
            self.init(.full, place, folder: folder, bytes: bytes, detail: failure.detail)
        } else if let found = Self.check(place, folder: folder, bytes: failure.error == EIO ? failure.bytes : 0) {
            self = found
        } else {
            // If the failure affected the whole folder, the fault is over now. It is still returned, so that the photo
            // does not fail.
            guard failure.isOfPlace else { return nil }
            self.init(.away, place, folder: folder, bytes: 0, detail: failure.detail)
        }
    }

    /// Checks a folder. Returns nil if files can be written to the folder now. Blocks.
    package init?(at place: OutputPlace) {
        guard let found = Self.check(place, folder: "", bytes: 0) else { return nil }
        self = found
    }

    /// Checks the folder again. Returns the current fault, which may differ from this one; nil if files can be written.
    /// Blocks.
    package func check() -> OutputFault? { Self.check(place, folder: folder, bytes: bytes) }

    /// Tries to write `bytes` bytes to an unnamed file in a folder.
    private static func check(_ place: OutputPlace, folder: String, bytes: Int) -> OutputFault? {
        do throws(SystemFailure) {
            try tryWriting(bytes, to: place, folder)
            return nil
        } catch {
            let path = folder.isEmpty ? place.folder : place.folder + "/" + folder
            let (kind, detail): (Kind, String)
            switch error.error {
            case ENOSPC, EDQUOT: (kind, detail) = (.full, "\(path): \(error.text); make room")
            case EROFS: (kind, detail) = (.readOnly, "\(path): \(error.text); mount it so that it can be written")
            case _ where place.detail(of: error) != nil:
                kind = error.isTakenFolder ? .taken : .away
                detail = place.detail(of: error) ?? ""
            case EACCES, EPERM: (kind, detail) = (.away, "\(path): \(error.text); let this user write there")
            case EIO, ENXIO, ENODEV: (kind, detail) = (.failing, "\(path): \(error.text); check the disk")
            case ENOENT, ESTALE, ENOTCONN, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH:
                (kind, detail) = (.away, "\(path): \(error.text); is its share mounted?")
            // Without its manifest, the batch cannot be reported.
            case _ where place.marker.map { Folder.part(of: folder, below: $0) != nil } ?? false:
                (kind, detail) = (.away, "\(path): \(error.text); the manifest belongs there")
            default: return nil
            }
            return OutputFault(kind, place, folder: folder, bytes: bytes, detail: detail)
        }
    }

    private static func tryWriting(_ bytes: Int, to place: OutputPlace, _ folder: String) throws(SystemFailure) {
        let root = try place.open()
        try place.whileHolding(root) {}
        try root.tryWriting(bytes, below: folder)
    }
}
