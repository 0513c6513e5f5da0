import DarkroomFiles
import Foundation

/// What keeps files from being written to a place for a while: a state of the machine, and nothing that is wrong with a photo.
struct OutputObstacle: Sendable, Equatable {
    /// What kind of obstacle it is.
    enum Kind: Sendable {
        /// The disk, or what of it its user may have, is full.
        case full
        /// The disk lost what was written.
        case failing
        /// It can be read only.
        case readOnly
        /// The folder is not seen, or not to be used.
        case away
        /// Another batch has taken the folder.
        case taken
    }

    let kind: Kind
    let place: OutputPlace
    /// In which folder below `place` a file could not be written; "" for itself.
    let folder: String
    /// What must have room before the obstacle is gone.
    var bytes: Int
    /// What was found, and what to do.
    let detail: String

    /// Whether all that is written to the same file system meets it.
    var isOfDevice: Bool { kind != .away && kind != .taken }

    /// Less room than this is none: the next few photos would fill it.
    static let leastRoom = 1 << 20

    init(_ kind: Kind, _ place: OutputPlace, folder: String, bytes: Int, detail: String) {
        self.kind = kind
        self.place = place
        self.folder = folder
        self.bytes = bytes
        self.detail = detail
    }

    /// The obstacle that a failure was due to; nil when it is that of the one file. Blocks.
    init?(_ failure: OutputWriter.Failure) {
        if failure.reason == .diskFull {
            self.init(
                .full, failure.place, folder: failure.folder, bytes: max(Self.leastRoom, 4 * failure.bytes),
                detail: failure.detail)
        } else {
            // Who else fails there meets it, too: what is seen there at last decides when it is gone.
            let bytes = failure.error == EIO ? failure.bytes : 0
            if let found = Self.look(at: failure.place, folder: failure.folder, bytes: bytes) {
                self = found
            } else {
                // What has passed meanwhile is found to be gone at the next look, and no photo has failed for it.
                guard failure.isOfPlace else { return nil }
                self.init(.away, failure.place, folder: failure.folder, bytes: 0, detail: failure.detail)
            }
        }
    }

    /// What hinders whoever writes to a place; nil when nothing does. Blocks.
    init?(at place: OutputPlace) {
        guard let found = Self.look(at: place, folder: "", bytes: 0) else { return nil }
        self = found
    }

    /// What hinders now, perhaps something else; nil when it is gone. Blocks.
    func look() -> OutputObstacle? { Self.look(at: place, folder: folder, bytes: bytes) }

    /// Tries to write `bytes` bytes, which nobody ever sees, to a folder.
    private static func look(at place: OutputPlace, folder: String, bytes: Int) -> OutputObstacle? {
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
            case EIO, ENXIO, ENODEV: (kind, detail) = (.failing, "\(path): \(error.text); look after the disk")
            case ENOENT, ESTALE, ENOTCONN, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH:
                (kind, detail) = (.away, "\(path): \(error.text); is its share mounted?")
            default: return nil
            }
            return OutputObstacle(kind, place, folder: folder, bytes: bytes, detail: detail)
        }
    }

    private static func tryWriting(_ bytes: Int, to place: OutputPlace, _ folder: String) throws(SystemFailure) {
        let root = try place.open()
        try place.whileHolding(root) {}
        try root.tryWriting(bytes, below: folder)
    }
}
