import CSystem
import DarkroomText
import Foundation

/// What an output folder is like.
struct FolderFacts {
    enum Kind: Equatable {
        case missing, file, folder
        /// It cannot be looked at, and why.
        case unreadable(String)
    }

    let path: String
    var kind = Kind.folder
    var freeBytes = 0
    var totalBytes = 0
    /// How many files can still be made; nil where the file system does not count.
    var freeFiles: Int?
    /// What writing some photos came to: how long until they were on the disk, or what failed.
    var writing: Result<Duration, WriteFailure>?

    /// What failed.
    struct WriteFailure: Error, Equatable {
        let attempted: String
        let error: Int32
    }
}

/// Looks at an output folder, and writes some photos' worth of files to it, which it removes again.
struct FolderProbe {
    /// Its absolute path.
    let path: String

    /// As many photos as an operation has, of the size that FACTS measured with.
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
            facts.freeBytes = Int(system.f_bavail) * Int(system.f_frsize)
            facts.totalBytes = Int(system.f_blocks) * Int(system.f_frsize)
            facts.freeFiles = system.f_files == 0 ? nil : Int(system.f_favail)
        }
        facts.writing = Result { () throws(FolderFacts.WriteFailure) in try write() }
        return facts
    }

    /// Writes files into a folder of its own, makes them durable as a worker does, and removes all.
    private func write() throws(FolderFacts.WriteFailure) -> Duration {
        // mkdtemp(3) puts letters in place of the Xs.
        var template = Array((path + "/.darkroom-doctor-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw failure("make a folder") }
        let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        defer {
            for number in 0..<Self.fileCount { unlink("\(folder)/\(number)") }
            rmdir(folder)
        }
        let start = ContinuousClock.now
        let bytes = [UInt8](repeating: 0x55, count: Self.fileBytes)
        for number in 0..<Self.fileCount { try write(bytes, to: "\(folder)/\(number)") }
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open a folder") }
        defer { close(descriptor) }
        guard csystem_syncfs(descriptor) == 0 else { throw failure("sync files") }
        return start.duration(to: .now)
    }

    private func write(_ bytes: [UInt8], to file: String) throws(FolderFacts.WriteFailure) {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("make a file") }
        let written = Foundation.write(descriptor, bytes, bytes.count)
        let failed = written == bytes.count ? nil : failure("write a file", written < 0 ? errno : ENOSPC)
        // Some network file systems tell of a full disk only now.
        let closed = close(descriptor)
        if let failed { throw failed }
        guard closed == 0 else { throw failure("close a file") }
    }

    private func failure(_ attempted: String, _ error: Int32 = errno) -> FolderFacts.WriteFailure {
        FolderFacts.WriteFailure(attempted: attempted, error: error)
    }
}
