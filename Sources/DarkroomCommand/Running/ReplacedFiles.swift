import Darkroom
import Foundation

/// The files that a batch had written before `--again`: those that the new batch does not write are left over.
///
/// Nothing is removed: the photos of the old list may be all that is left of them. They are noted in the folder of the run
/// until the new batch has finished, so that an interruption loses nothing.
struct ReplacedFiles {
    private let output: String
    private let path: String
    /// Where those that are left over are named, a path below the output folder a line.
    let leftOverPath: String

    init(_ folder: RunFolder) {
        output = folder.output.path
        path = folder.path + "/replaced.txt"
        leftOverPath = folder.path + "/left-over.txt"
    }

    /// Notes the files that the manifest of a batch says it has written, beside those noted before.
    func note(filesOf batch: BatchID) throws {
        let files = try noted().union(written(by: batch))
        if !files.isEmpty { try write(files.sorted(), to: path) }
    }

    /// The files noted that are still there and that a batch has not written; they are noted as left over from now on.
    func leftOver(by batch: BatchID) throws -> [String] {
        let noted = try noted()
        guard !noted.isEmpty else { return [] }
        let left = try noted.subtracting(written(by: batch)).filter { file in
            var facts = stat()
            return lstat(output + "/" + file, &facts) == 0
        }.sorted()
        if left.isEmpty { unlink(leftOverPath) } else { try write(left, to: leftOverPath) }
        unlink(path)
        return left
    }

    private func noted() throws -> Set<String> {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        return Set(text.split(separator: "\n").map(String.init))
    }

    private func written(by batch: BatchID) throws -> Set<String> {
        var files: Set<String> = []
        try ManifestReader(output: output).forEachLine(of: batch) { line in
            if let file = line.file { files.insert(file) }
        }
        return files
    }

    private func write(_ files: [String], to path: String) throws {
        try Data(files.map { $0 + "\n" }.joined().utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
    }
}
