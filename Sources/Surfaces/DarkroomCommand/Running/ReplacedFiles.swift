import Darkroom
import DarkroomCoordinator
import DarkroomFiles
import DarkroomStorage
import Foundation

/// With `--again`: records the files of the earlier batch, and finds those files that the new batch does not write
/// (the left-over files).
///
/// No file is removed, because it may be the only copy of a photo. The names are stored in the folder of the run until
/// the new batch has finished, so that an interruption does not lose them.
struct ReplacedFiles {
    private let folder: RunFolder

    private static let replacedName = "replaced.txt"
    private static let leftOverName = "left-over.txt"

    init(_ folder: RunFolder) { self.folder = folder }

    /// The file with the names of the left-over files: one path per line, relative to the output folder.
    var leftOverPath: String { folder.path + "/" + Self.leftOverName }

    /// Adds the files in the manifest of a batch to the recorded files.
    func note(filesOf batch: BatchID) throws {
        let files = try noted().union(written(by: batch))
        if !files.isEmpty { try write(files.sorted(), to: Self.replacedName) }
    }

    /// Returns the recorded files that still exist and that `batch` has not written, and writes their names to the file
    /// `leftOverPath`.
    func leftOver(by batch: BatchID) throws -> [String] {
        let noted = try noted()
        guard !noted.isEmpty else { return [] }
        let left = try noted.subtracting(written(by: batch)).filter(isThere).sorted()
        if left.isEmpty { try folder.state.remove(Self.leftOverName) } else { try write(left, to: Self.leftOverName) }
        try folder.state.remove(Self.replacedName)
        return left
    }

    private func noted() throws -> Set<String> {
        guard try folder.state.status(of: Self.replacedName) != nil else { return [] }
        let text = String(decoding: try folder.state.contents(of: Self.replacedName), as: UTF8.self)
        return Set(text.split(separator: "\n").map(String.init))
    }

    /// Whether a file of the output is still there. A file that cannot be opened counts as still there.
    private func isThere(_ file: String) -> Bool {
        do throws(StoredFileError) {
            close(try folder.output.results.open(file).descriptor)
            return true
        } catch {
            return !error.isMissing
        }
    }

    private func written(by batch: BatchID) throws -> Set<String> {
        var files: Set<String> = []
        try folder.output.results.manifest.forEachLine(of: batch) { line in
            files.formUnion(line.paths)
        }
        return files
    }

    private func write(_ files: [String], to name: String) throws {
        try folder.state.replace(name, with: Array(files.map { $0 + "\n" }.joined().utf8))
    }
}
