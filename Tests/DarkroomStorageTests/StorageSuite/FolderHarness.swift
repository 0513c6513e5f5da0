import DarkroomConcurrency
import DarkroomFiles
import DarkroomModel
import DarkroomTestSupport
import Foundation

@testable import DarkroomStorage

/// Folders in a scratch folder, or in a file system of 4 MiB.
final class FolderHarness: StorageHarness {
    private let scratch: ScratchFolder?
    private let mounts: MountNamespace?
    private let root: String
    /// The descriptors whose barriers have reported a loss; nil without a loss.
    private let reported = Locked<Set<Int32>?>(nil)
    /// The path of a file that cannot be read, and of its content.
    private var unreadable: (path: String, content: String)?

    private var disk: String { root + "/disk" }
    private var filler: String { root + "/filler" }

    init(isLimited: Bool) throws {
        if isLimited {
            let mounts = try MountNamespace("mkdir output && mount -t tmpfs -o size=4m none output")
            (self.mounts, scratch) = (mounts, nil)
            root = mounts.path(mounts.folder + "/output")
        } else {
            let scratch = try ScratchFolder()
            (self.scratch, mounts) = (scratch, nil)
            root = scratch.path
        }
        try FileManager.default.createDirectory(atPath: root + "/disk", withIntermediateDirectories: true)
    }

    deinit { mounts?.stop() }

    func place(_ name: String) -> any StoragePlace { OutputFolder(path: disk + "/" + name) }

    var rules: StorageRules {
        let folders = FolderRules(holderPatience: .seconds(30)) { [reported] descriptor in
            reported.withLock { $0?.insert(descriptor).inserted ?? false } ? EIO : 0
        }
        return StorageRules(places: [], isRemote: false, folders: folders)
    }

    var trusted: String { disk }

    // MARK: Faults

    func fill(leaving room: Int) throws {
        unlink(filler)
        var status = statvfs()
        try check(statvfs(root, &status))
        let descriptor = open(filler, O_WRONLY | O_CREAT, 0o600)
        try check(descriptor)
        defer { close(descriptor) }
        try check(-posix_fallocate(descriptor, 0, Int(status.f_bavail * status.f_bsize) - room))
    }

    func takeAway() throws { try check(rename(disk, root + "/away")) }
    func makeReadOnly() throws { try mounts?.run("mount -o remount,ro output") }
    func loseUnsynced() { reported.withLock { $0 = [] } }

    func mend() throws {
        try mounts?.run("mount -o remount,rw output")
        unlink(filler)
        if FileManager.default.fileExists(atPath: root + "/away") { try check(rename(root + "/away", disk)) }
        reported.withLock { $0 = nil }
        if let (path, content) = unreadable { try check(rename(content, path)) }
        unreadable = nil
    }

    /// A socket cannot be opened (ENXIO), even by root.
    func makeUnreadable(_ held: HeldOperation, in place: any StoragePlace) throws {
        let name = ManifestPath.fileName(operation: held.number, fencingToken: held.fencingToken)
        let path = manifestFolder(held.number, held.batch, place) + name
        try check(rename(path, root + "/unreadable"))
        try check(mknod(path, S_IFSOCK | 0o600, 0))
        unreadable = (path, root + "/unreadable")
    }

    func block(_ path: String, in place: any StoragePlace) throws {
        try FileManager.default.createDirectory(
            atPath: place.location + "/" + path, withIntermediateDirectories: true)
    }

    func unblock(_ path: String, in place: any StoragePlace) throws { try check(rmdir(place.location + "/" + path)) }

    func replace(_ place: any StoragePlace) throws {
        let batches = try place.batches()
        try check(rename(place.location, place.location + "-before"))
        for batch in batches {
            try FileManager.default.createDirectory(
                atPath: place.manifestLocation(of: batch), withIntermediateDirectories: true)
        }
    }

    // MARK: What is stored

    /// The paths of all files that satisfy a condition.
    private func paths(in place: any StoragePlace, _ condition: (String) -> Bool) throws -> [String] {
        guard FileManager.default.fileExists(atPath: place.location) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: place.location).filter { path in
            var status = stat()
            return lstat(place.location + "/" + path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
                && condition(path)
        }.sorted()
    }

    private func isRemains(_ path: String) -> Bool { Path.split(path).name.utf8.first == UInt8(ascii: ".") }

    func files(in place: any StoragePlace) throws -> [String: [UInt8]] {
        var files: [String: [UInt8]] = [:]
        for path in try paths(in: place, { !isRemains($0) && !$0.hasPrefix("manifest/") }) {
            files[path] = FileManager.default.contents(atPath: place.location + "/" + path).map(Array.init) ?? []
        }
        return files
    }

    func time(of path: String, in place: any StoragePlace) throws -> FileTime? {
        var status = stat()
        try check(stat(place.location + "/" + path, &status))
        return FileTime(of: status)
    }

    func remains(in place: any StoragePlace) throws -> [String] { try paths(in: place, isRemains) }

    func savedRemains(in place: any StoragePlace) throws -> () throws -> Void {
        let saved = try remains(in: place).map { path in
            (path: place.location + "/" + path, data: FileManager.default.contents(atPath: place.location + "/" + path))
        }
        return {
            for (path, data) in saved { try data?.write(to: URL(fileURLWithPath: path)) }
        }
    }

    func leaveLines(of held: HeldOperation, worker: String, in place: any StoragePlace) throws {
        let name = TemporaryName.of(
            TemporaryName.manifest(operation: held.number), fencingToken: held.fencingToken, writer: worker)
        let path = manifestFolder(held.number, held.batch, place) + name
        try Data("{".utf8).write(to: URL(fileURLWithPath: path))
    }

    private func manifestFolder(_ operation: Int, _ batch: BatchID, _ place: any StoragePlace) -> String {
        "\(place.location)/\(ManifestPath.folder(batch))/\(ManifestPath.subfolder(operation: operation))"
    }

    func tokens(of operation: Int, _ batch: BatchID, in place: any StoragePlace) throws -> [Int] {
        let folder = manifestFolder(operation, batch, place)
        // Without a folder, there are no lines.
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .compactMap(ManifestPath.parse(fileName:)).filter { $0.operation == operation }.map(\.fencingToken).sorted()
    }

    func store(_ bytes: [UInt8], as held: HeldOperation, in place: any StoragePlace) throws {
        let folder = manifestFolder(held.number, held.batch, place)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let name = ManifestPath.fileName(operation: held.number, fencingToken: held.fencingToken)
        try Data(bytes).write(to: URL(fileURLWithPath: folder + name))
    }

    func remove(_ path: String, in place: any StoragePlace) throws { try check(unlink(place.location + "/" + path)) }

    func link(_ path: String, to target: String, in place: any StoragePlace) throws -> Bool {
        try check(symlink(target, place.location + "/" + path))
        return true
    }

    /// Throws if a call of the system has failed.
    private func check(_ result: Int32) throws {
        guard result >= 0 else { throw SystemFailure("prepare", errno) }
    }
}
