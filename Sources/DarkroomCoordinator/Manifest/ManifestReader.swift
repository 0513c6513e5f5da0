import DarkroomFiles
import DarkroomModel
import Foundation

/// Reads the results of the photos in an output folder from its `manifest/` folder. Workers may write there meanwhile.
///
/// The reader holds the file names of at most 1,000 operations and the lines of one operation in memory.
package struct ManifestReader: Sendable {
    private let output: String

    package init(output: String) { self.output = output }

    /// The batches that wrote to the folder, earliest submission first.
    package func batches() throws(ManifestError) -> [BatchID] {
        guard let names = try ManifestFolder(output: output, path: "manifest").names() else {
            throw ManifestError(
                .noManifest,
                FileManager.default.fileExists(atPath: output)
                    ? "\(output): there is no folder \"manifest\" in it, so no batch wrote there; name the folder that "
                        + "a batch was given as its output"
                    : "\(output): no such folder")
        }
        return names.compactMap { BatchID($0) }.sorted()
    }

    /// Calls `body` with every line, batch by batch, in the order of each list.
    package func forEachLine(_ body: (ManifestLine) throws -> Void) throws {
        for batch in try batches() { try forEachLine(of: batch, body) }
    }

    /// Calls `body` with every line of a batch, in the order of its list.
    package func forEachLine(of batch: BatchID, _ body: (ManifestLine) throws -> Void) throws {
        for number in try parts(of: batch) {
            var part = try part(number, of: batch)
            for operation in part.operations {
                for line in try part.lines(ofOperation: operation) { try body(line) }
            }
        }
    }

    /// The numbers of a batch's parts, ascending; empty if the batch has no manifest here.
    package func parts(of batch: BatchID) throws(ManifestError) -> [Int] {
        guard let names = try ManifestFolder(output: output, path: ManifestPath.folder(batch)).names() else {
            return []
        }
        return [0] + names.compactMap(ManifestPath.part(folderName:)).sorted()
    }

    /// A part of a batch's manifest: operation n is in part n div ``ManifestPart/size``. Empty if the part does not exist.
    package func part(_ number: Int, of batch: BatchID) throws(ManifestError) -> ManifestPart {
        let subfolder = ManifestPath.subfolder(operation: number * ManifestPart.size)
        return try ManifestPart(
            of: batch, folder: ManifestFolder(output: output, path: ManifestPath.folder(batch) + "/" + subfolder))
    }
}

/// A folder of a manifest below an output folder. Other users may write there, so no link is followed.
struct ManifestFolder: CustomStringConvertible {
    let output: String
    /// The path below the output folder.
    let path: String

    var description: String { output + "/" + path }

    /// The largest file that is read. It is larger than any manifest file: an operation's photos take 1 MiB at most.
    private static let maxBytes = 1 << 28

    /// The names in the folder; nil if the folder does not exist.
    func names() throws(ManifestError) -> [String]? {
        try read(path) { (folder) throws(SystemFailure) in try folder.folder(path).names() }
    }

    /// The bytes of a file in the folder; nil if the file does not exist.
    func contents(of name: String) throws(ManifestError) -> [UInt8]? {
        let file = Path.joined(path, name)
        return try read(file) { (folder) throws(SystemFailure) in
            try folder.contents(of: file, maxBytes: Self.maxBytes)
        }
    }

    private func read<Value>(
        _ path: String, _ body: (Folder) throws(SystemFailure) -> Value
    ) throws(ManifestError) -> Value? {
        do throws(SystemFailure) {
            return try body(Folder(trusted: output))
        } catch {
            if error.error == ENOENT { return nil }
            throw ManifestError(.unreadable, "\(output)/\(path): \(error.text)")
        }
    }
}
