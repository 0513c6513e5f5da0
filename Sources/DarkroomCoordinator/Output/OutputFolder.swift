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
        guard let folder = opendir(path + "/manifest") else {
            if errno == ENOENT || errno == ENOTDIR { return [] }
            throw CoordinatorError(
                .outputDenied,
                "output folder \(path): its folder manifest cannot be read: \(String(cString: strerror(errno)))")
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted().map(BatchID.init)
    }

    /// Makes the folder, and those above it, where they are missing.
    public func create() throws(CoordinatorError) { try make(path) }

    /// True when a batch has no manifest here, or an empty one: none of its photos was written.
    public func isUntouched(by batch: BatchID) -> Bool {
        let manifest = path + "/" + ManifestPath.folder(batch)
        return (try? FileManager.default.contentsOfDirectory(atPath: manifest))?.isEmpty ?? true
    }

    /// Throws when another batch than `batch` has a manifest here.
    public func checkFree(for batch: BatchID? = nil) throws(CoordinatorError) {
        guard let other = try batches().last(where: { $0 != batch }) else { return }
        throw CoordinatorError(
            .outputTaken,
            "output folder \(path): it has the photos of batch \(other) (its folder manifest/\(other)); choose another "
                + "folder, or say --overwrite to write over them")
    }

    /// Makes the folder and the batch's manifest folder, and writes a file to see that it can be written.
    /// - Parameters:
    ///   - batch: the batch that writes there.
    ///   - overwrite: take the folder also when it has the manifest of another batch.
    public func prepare(for batch: BatchID, overwrite: Bool) throws(CoordinatorError) {
        if !overwrite { try checkFree(for: batch) }
        try create()
        try make(path + "/" + ManifestPath.folder(batch))
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

    /// Makes a folder and those above it.
    private func make(_ folder: String) throws(CoordinatorError) {
        guard mkdir(folder, 0o777) != 0 else { return }
        if errno == ENOENT, let slash = folder.lastIndex(of: "/"), slash != folder.startIndex {
            try make(String(folder[..<slash]))
            if mkdir(folder, 0o777) == 0 { return }
        }
        let error = errno
        var information = stat()
        if stat(folder, &information) == 0, information.st_mode & S_IFMT == S_IFDIR { return }
        let found = error == EEXIST ? "it is a file" : String(cString: strerror(error))
        throw CoordinatorError(
            .outputDenied,
            "output folder \(path): \(folder) cannot be made: \(found); "
                + (error == EACCES ? "change its permissions, or " : "") + "choose another folder"
        )
    }
}
