import DarkroomModel
import Foundation

/// The manifest files of consecutive operations of a batch, which share a folder.
///
/// An operation has one file for each claim during which photos became final. The worker that ends the operation
/// removes the files of earlier claims. Usually, the file with the highest fencing token contains all lines. But if
/// Redis loses its latest changes, the last file of an operation may have a lower fencing token than an earlier file.
/// Therefore, for each photo, the line with the highest fencing token is used. Unreadable lines with lower fencing
/// tokens are skipped, because a power failure may damage a file before its photos are reported to Redis. Lines of
/// other batches are skipped, because no worker wrote them here.
struct FolderManifestPart: ManifestPart {
    private let batch: BatchID
    private let folder: ManifestFolder
    /// The fencing tokens of each operation's files, the highest token first.
    private var fencingTokens: [Int: [Int]]

    init(of batch: BatchID, folder: ManifestFolder) throws(ManifestError) {
        self.batch = batch
        self.folder = folder
        fencingTokens = try Self.fencingTokens(in: folder)
    }

    var operations: [Int] { fencingTokens.keys.sorted() }

    mutating func lines(ofOperation number: Int) throws(ManifestError) -> [ManifestLine] {
        while let listed = fencingTokens[number] {
            if let lines = try lines(ofOperation: number, listed) { return lines }
            // A file was removed after the folder was read: there was a later claim, or the batch was forgotten.
            fencingTokens[number] = try Self.fencingTokens(in: folder)[number]
            guard fencingTokens[number] != listed else {
                throw ManifestError(
                    .unreadable, "\(folder): a file of operation \(number) is listed but not there")
            }
        }
        return []
    }

    /// The lines in the files with these fencing tokens; nil if one of the files was removed.
    private func lines(ofOperation number: Int, _ fencingTokens: [Int]) throws(ManifestError) -> [ManifestLine]? {
        var byIndex: [Int: ManifestLine] = [:]
        for fencingToken in fencingTokens {
            let name = ManifestPath.fileName(operation: number, fencingToken: fencingToken)
            guard let text = try folder.contents(of: name) else { return nil }
            for line in try Self.lines(of: text, "\(folder)\(name)", isLenient: fencingToken != fencingTokens.first)
            where line.batch == batch && byIndex[line.index] == nil { byIndex[line.index] = line }
        }
        return byIndex.values.sorted { $0.index < $1.index }
    }

    private static func fencingTokens(in folder: ManifestFolder) throws(ManifestError) -> [Int: [Int]] {
        var fencingTokens: [Int: [Int]] = [:]
        for file in try folder.names() ?? [] {
            guard let (number, fencingToken) = ManifestPath.parse(fileName: file) else { continue }
            fencingTokens[number, default: []].append(fencingToken)
        }
        return fencingTokens.mapValues { $0.sorted(by: >) }
    }

    private static func lines(of text: [UInt8], _ path: String, isLenient: Bool) throws(ManifestError) -> [ManifestLine]
    {
        let decoder = UntrustedJSON()
        var lines: [ManifestLine] = []
        var rest = text[...]
        var number = 0
        // Takes one line at a time: an array of all lines of a file that strangers have written can be large.
        while !rest.isEmpty {
            let line = rest.prefix { $0 != UInt8(ascii: "\n") }
            rest = rest.dropFirst(line.count + 1)
            guard !line.isEmpty else { continue }
            number += 1
            do {
                lines.append(try decoder.decode(ManifestLine.self, from: line))
            } catch {
                guard !isLenient else { continue }
                throw ManifestError(
                    .damaged,
                    "\(path), line \(number): not a manifest line (found "
                        + "\"\(String(decoding: line.prefix(60), as: UTF8.self))\"); Darkroom replaces these files atomically, so "
                        + "another program has changed it; remove the line to read the rest")
            }
        }
        return lines
    }
}
