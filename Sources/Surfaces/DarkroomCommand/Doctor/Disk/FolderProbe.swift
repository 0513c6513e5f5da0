import CSystem
import DarkroomFiles
import DarkroomText
import Foundation

/// The facts about an output folder.
struct FolderFacts {
    enum Kind: Equatable {
        case missing, file, folder
        /// The folder cannot be examined; the associated value is the reason.
        case unreadable(String)
    }

    let path: String
    var kind = Kind.folder
    var freeBytes = 0
    var totalBytes = 0
    /// The number of files that can still be created; nil if the file system does not report it.
    var freeFiles: Int?
    /// The result of writing test files: the time until they were on the disk, or the error.
    var writing: Result<Duration, SystemFailure>?
}

/// Examines an output folder. Writes test files of the size of a photo to the folder, and removes them.
struct FolderProbe {
    let path: String

    /// `fileCount` is the default number of photos of an operation; `fileBytes` is the size of a typical photo.
    static let fileCount = 50
    static let fileBytes = 60_000

    func facts() -> FolderFacts {
        var facts = FolderFacts(path: path)
        var information = stat()
        guard stat(path, &information) == 0 else {
            facts.kind =
                errno == ENOENT ? .missing : errno == ENOTDIR ? .file : .unreadable(systemErrorText())
            return facts
        }
        guard information.st_mode & S_IFMT == S_IFDIR else {
            facts.kind = .file
            return facts
        }
        var system = statvfs()
        if statvfs(path, &system) == 0 {
            facts.freeBytes = Self.bytes(UInt64(system.f_bavail), of: UInt64(system.f_frsize))
            facts.totalBytes = Self.bytes(UInt64(system.f_blocks), of: UInt64(system.f_frsize))
            facts.freeFiles = system.f_files == 0 ? nil : Int(clamping: system.f_favail)
        }
        facts.writing = Result { () throws(SystemFailure) in try write() }
        return facts
    }

    /// The size of blocks in bytes, at most `Int.max`: some file systems report huge numbers.
    static func bytes(_ blocks: UInt64, of size: UInt64) -> Int {
        let (bytes, overflow) = blocks.multipliedReportingOverflow(by: size)
        return overflow ? .max : Int(clamping: bytes)
    }

    /// Writes test files to a new folder, syncs them to disk in the same way as a worker, and removes them.
    private func write() throws(SystemFailure) -> Duration {
        let parent = try Folder(trusted: path)
        let name = ".darkroom-doctor-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let folder = try parent.makeFolder(name, mode: 0o700)
        // Errors are ignored: a second try to remove the files would also fail.
        defer { try? parent.removeTree(name) }
        let start = ContinuousClock.now
        let bytes = [UInt8](repeating: 0x55, count: Self.fileBytes)
        for number in 0..<Self.fileCount { try fill(folder.create("\(number)", mode: 0o600), with: bytes) }
        guard csystem_syncfs(folder.descriptor) == 0 else { throw SystemFailure("sync", errno) }
        return start.duration(to: .now)
    }
}
