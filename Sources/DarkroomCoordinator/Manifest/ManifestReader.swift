import DarkroomModel
import Foundation

/// Reads what became of the photos in an output folder, from its `manifest/` folder alone; workers may be writing there.
///
/// It holds the names of at most a thousand operations' files and the lines of one operation at a time.
public struct ManifestReader: Sendable {
    private let output: String

    /// A reader of the folder that photos were written to.
    public init(output: String) { self.output = output }

    /// The batches that wrote there, earliest submission first.
    public func batches() throws(ManifestError) -> [BatchID] {
        let folder = output + "/manifest"
        guard let names = try Self.names(in: folder) else {
            throw ManifestError(
                .noManifest,
                FileManager.default.fileExists(atPath: output)
                    ? "\(output): there is no folder \"manifest\" in it, so no batch wrote there; name the folder that "
                        + "a batch was given as its output"
                    : "\(output): no such folder")
        }
        return names.filter { !$0.hasPrefix(".") }.map(BatchID.init).sorted()
    }

    /// Calls `body` with every line: batch by batch, each in the order of its list.
    public func forEachLine(_ body: (ManifestLine) throws -> Void) throws {
        for batch in try batches() { try forEachLine(of: batch, body) }
    }

    /// Calls `body` with every line of a batch, in the order of its list.
    public func forEachLine(of batch: BatchID, _ body: (ManifestLine) throws -> Void) throws {
        for number in try parts(of: batch) {
            var part = try part(number, of: batch)
            for operation in part.operations {
                for line in try part.lines(ofOperation: operation) { try body(line) }
            }
        }
    }

    /// The numbers of a batch's parts, ascending; none when it has no manifest here.
    public func parts(of batch: BatchID) throws(ManifestError) -> [Int] {
        guard let names = try Self.names(in: output + "/" + ManifestPath.folder(batch)) else { return [] }
        // Five digits at least; files have an ending, so they are no numbers.
        return [0] + names.filter { $0.utf8.count >= 5 }.compactMap { Int($0) }.sorted()
    }

    /// A part of a batch's manifest: operation n is in part n div ``ManifestPart/size``. Empty when there is none.
    public func part(_ number: Int, of batch: BatchID) throws(ManifestError) -> ManifestPart {
        let subfolder = ManifestPath.subfolder(operation: number * ManifestPart.size)
        return try ManifestPart(folder: output + "/" + ManifestPath.folder(batch) + "/" + subfolder)
    }

    /// The names in a folder; nil when there is no such folder.
    static func names(in folder: String) throws(ManifestError) -> [String]? {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: folder)
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw ManifestError(.unreadable, "\(folder): \(error.localizedDescription)")
        }
    }
}
