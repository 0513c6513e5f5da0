import DarkroomFiles
import DarkroomModel
import Foundation

/// Checks whether files can be written to a folder.
struct FolderCheck: StorageCheck {
    let place: OutputPlace
    /// The subfolder in which a file could not be written, relative to `place`; "" for `place` itself.
    let folder: String

    /// With fewer free bytes the disk counts as full, because the next few photos would fill it.
    static let leastRoom = 1 << 20

    var location: String { place.folder }

    /// Tries to write `room` bytes to an unnamed file in the folder.
    func fault(room: Int) -> StorageFault? {
        do throws(SystemFailure) {
            let root = try place.open()
            try place.whileHolding(root) {}
            try root.tryWriting(room, below: folder)
            return nil
        } catch {
            return fault(room: room, of: error)
        }
    }

    private func fault(room: Int, of error: SystemFailure) -> StorageFault? {
        let path = folder.isEmpty ? place.folder : place.folder + "/" + folder
        // If the file system cannot be identified, the fault counts as a fault of this batch alone.
        let device = StorageDomain(of: place.folder).map(StorageFault.Scope.domain) ?? .batch
        var fault = StorageFault(.batch, error.refusalCode, detail: "", room: room, check: self)
        switch error.error {
        case ENOSPC, EDQUOT:
            (fault.scope, fault.detail) = (device, "\(path): \(error.text); make room")
        case EROFS: (fault.scope, fault.detail) = (device, "\(path): \(error.text); mount it so that it can be written")
        case _ where place.detail(of: error) != nil: fault.detail = place.detail(of: error) ?? ""
        case EACCES, EPERM: fault.detail = "\(path): \(error.text); let this user write there"
        case EIO, ENXIO, ENODEV: (fault.scope, fault.detail) = (device, "\(path): \(error.text); check the disk")
        case ENOENT, ESTALE, ENOTCONN, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH:
            fault.detail = "\(path): \(error.text); is its share mounted?"
        // Without its manifest, the batch cannot be reported.
        case _ where place.marker.map { Folder.part(of: folder, below: $0) != nil } ?? false:
            fault.detail = "\(path): \(error.text); the manifest belongs there"
        default: return nil
        }
        return fault
    }

    func retake(_ number: Int) {
        // An error is ignored, because the next check finds the same fault.
        guard let holder = place.holder, let root = try? place.open() else { return }
        _ = try? FolderHolder(owner: holder.owner, number: number).take(ManifestPath.holder, in: root)
    }

    func remove(_ remains: String) {
        // A file that stays does no harm. If this worker crashes, the next worker that claims the operation removes the
        // file.
        try? place.open().remove(remains)
    }
}

extension OutputPlace {
    /// The fault because of which a file could not be written. Checks whether other files can be written. Blocks.
    /// - Parameters:
    ///   - path: the path of the file, relative to the folder.
    ///   - byteCount: the size of all files of the photo.
    func fault(writing path: String, byteCount: Int, _ failure: SystemFailure) -> StorageFault {
        let check = FolderCheck(place: self, folder: Path.split(path).folder ?? "")
        let detail = detail(of: failure) ?? "\(failure.attempted) \(folder)/\(path): \(failure.text)"
        if failure.error == ENOSPC || failure.error == EDQUOT {
            return StorageFault(
                StorageDomain(of: folder).map(StorageFault.Scope.domain) ?? .batch, .diskFull, detail: detail,
                room: max(FolderCheck.leastRoom, 4 * byteCount), check: check)
        }
        if var found = check.fault(room: failure.error == EIO ? byteCount : 0) {
            if found.isFull { found.code = .other }  // the write did not fail because of a full disk
            return found
        }
        // If the failure affected the whole folder, the fault is over now. The photo must not fail because of it.
        let isOfPlace =
            ["see", "hold"].contains(failure.attempted) || [EROFS, ESTALE, ENOTCONN].contains(failure.error)
        return StorageFault(isOfPlace ? .batch : .file, failure.refusalCode, detail: detail, check: check)
    }

    /// The fault because of which a manifest file could not be read. The batch waits, because the fault may end soon.
    /// - Parameter path: the path of the file, relative to the folder.
    func fault(reading path: String, _ failure: SystemFailure) -> StorageFault {
        StorageFault(
            .batch, failure.refusalCode,
            detail: detail(of: failure) ?? "\(failure.attempted) \(folder)/\(path): \(failure.text)",
            check: FolderCheck(place: self, folder: Path.split(path).folder ?? ""))
    }

    /// The reason why no file can be written to the folder, and the remedy; nil if the failure affects only one file.
    func detail(of failure: SystemFailure) -> String? {
        switch failure.attempted {
        case "see" where failure.error == ELOOP || failure.error == EXDEV: "\(markerPath): \(failure.text)"
        case "see": "\(markerPath) is gone (\(failure.text)); is its share mounted?"
        case "hold" where failure.isLocked: "\(folder)/\(ManifestPath.holder): \(failure.text)"
        case "hold": "\(folder): \(failure.text)"
        default: nil
        }
    }
}

extension SystemFailure {
    /// The kind of refusal of a batch in whose folder this failure has happened.
    var refusalCode: Refusal.Code {
        if isTakenFolder { return .folderTaken }
        if isLocked { return .folderLocked }
        switch error {
        case ENOSPC, EDQUOT: return .diskFull
        case ENOENT, ENOTDIR, ESTALE, ENOTCONN, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH: return .folderMissing
        default: return .other
        }
    }
}
