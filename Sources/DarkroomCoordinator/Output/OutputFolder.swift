import DarkroomModel
import Foundation

/// The folder that a batch's photos are written to, and its `manifest/<batch id>/`, by whose presence workers know that
/// they see the same folder.
///
/// Both are made by the coordinator and by nobody else, so that a machine without the share writes nothing.
public struct OutputFolder: Sendable {
    /// The folder's absolute path.
    public let path: String

    /// A folder by its absolute path.
    public init(path: String) { self.path = path }

    /// The batches that have a manifest here, in order.
    public func batches() throws(CoordinatorError) -> [BatchID] {
        do {
            let names = try FileManager.default.contentsOfDirectory(atPath: path + "/manifest")
            return names.filter { !$0.hasPrefix(".") }.sorted().map(BatchID.init)
        } catch CocoaError.fileReadNoSuchFile {
            return []
        } catch {
            throw CoordinatorError(.outputDenied, "output folder \(path): its folder manifest cannot be read: \(reason(error))")
        }
    }

    /// Makes the folder and the batch's manifest folder, and writes a file to see that it can be written.
    /// - Parameter overwrite: take the folder also when it has the manifest of another batch.
    public func prepare(for batch: BatchID, overwrite: Bool) throws(CoordinatorError) {
        if !overwrite, let other = try batches().last(where: { $0 != batch }) {
            throw CoordinatorError(
                .outputTaken,
                "output folder \(path): it has the photos of batch \(other) (its folder manifest/\(other)); choose another "
                    + "folder, or say --overwrite to write over them")
        }
        do {
            try FileManager.default.createDirectory(
                atPath: path + "/" + ManifestPath.folder(batch), withIntermediateDirectories: true)
        } catch {
            throw CoordinatorError(.outputDenied, "output folder \(path): it cannot be made: \(reason(error))")
        }
        do throws(CoordinatorError) {
            try tryWriting()
        } catch {
            withdraw(batch)
            throw error
        }
    }

    /// Removes the folder of a batch's manifest, with what it holds, and `manifest` itself if that leaves it empty.
    public func withdraw(_ batch: BatchID) {
        try? FileManager.default.removeItem(atPath: path + "/" + ManifestPath.folder(batch))
        rmdir(path + "/manifest")  // fails, as it should, while there is something in it
    }

    /// Writes, syncs and removes a file: some file systems tell only then that they are full.
    private func tryWriting() throws(CoordinatorError) {
        let probe = path + "/.darkroom-probe-\(UInt32.random(in: 0...UInt32.max))"
        let descriptor = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw cannotWrite(errno) }
        defer {
            close(descriptor)
            unlink(probe)
        }
        let bytes = [UInt8](repeating: 0, count: 4096)
        let written = write(descriptor, bytes, bytes.count)
        guard written == bytes.count else { throw cannotWrite(written < 0 ? errno : ENOSPC) }
        guard fsync(descriptor) == 0 || errno == EINVAL else { throw cannotWrite(errno) }
    }

    private func cannotWrite(_ error: Int32) -> CoordinatorError {
        let found = String(cString: strerror(error))
        let advice =
            switch error {
            case ENOSPC, EDQUOT: "free some space, or choose another folder"
            default: "change its permissions, or choose another folder"
            }
        return CoordinatorError(.outputDenied, "output folder \(path): it cannot be written: \(found); \(advice)")
    }

    /// What the system said: Foundation's sentences name the file again.
    private func reason(_ error: any Error) -> String {
        let underlying = (error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError
        guard let underlying, underlying.domain == NSPOSIXErrorDomain else { return "\(error.localizedDescription)" }
        return String(cString: strerror(Int32(underlying.code)))
    }
}
