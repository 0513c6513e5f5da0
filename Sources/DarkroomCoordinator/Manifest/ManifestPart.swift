import DarkroomModel
import Foundation

/// The files of up to a thousand operations of a batch that follow one another, those of one folder.
///
/// An operation has a file for each claim under which photos of it became final, until whoever brings it to its end removes
/// the others. In the regular course of things the highest fence has all lines; after Redis has lost its latest changes an
/// operation may end under a fence lower than one that Redis forgot. So each photo's line is that of the highest fence
/// that has it. What cannot be read of lower ones is left out: a power cut damages files of claims that were not reported.
/// Lines of other batches are left out: no worker wrote them here.
package struct ManifestPart: Sendable {
    /// As many operations share a folder.
    package static let size = 1000

    private let batch: BatchID
    private let folder: ManifestFolder
    /// By operation, the highest first.
    private var fences: [Int: [Int]]

    init(of batch: BatchID, folder: ManifestFolder) throws(ManifestError) {
        self.batch = batch
        self.folder = folder
        fences = try Self.fences(in: folder)
    }

    /// The numbers of the operations that have lines, ascending.
    package var operations: [Int] { fences.keys.sorted() }

    /// The lines of an operation, by index; none when there is no file of it.
    package mutating func lines(ofOperation number: Int) throws(ManifestError) -> [ManifestLine] {
        while let listed = fences[number] {
            if let lines = try lines(ofOperation: number, listed) { return lines }
            // One was removed since the folder was read: there is a higher fence now, or the batch was forgotten.
            fences[number] = try Self.fences(in: folder)[number]
            guard fences[number] != listed else {
                throw ManifestError(
                    .unreadable, "\(folder): a file of operation \(number) is listed but not there")
            }
        }
        return []
    }

    /// The lines in the files of these fences; nil when one is not there any more.
    private func lines(ofOperation number: Int, _ fences: [Int]) throws(ManifestError) -> [ManifestLine]? {
        var byIndex: [Int: ManifestLine] = [:]
        for fencingToken in fences {
            let name = ManifestPath.fileName(operation: number, fencingToken: fencingToken)
            guard let text = try folder.contents(of: name) else { return nil }
            for line in try Self.lines(of: text, "\(folder)\(name)", isLenient: fencingToken != fences.first)
            where line.batch == batch && byIndex[line.index] == nil { byIndex[line.index] = line }
        }
        return byIndex.values.sorted { $0.index < $1.index }
    }

    private static func fences(in folder: ManifestFolder) throws(ManifestError) -> [Int: [Int]] {
        var fences: [Int: [Int]] = [:]
        for file in try folder.names() ?? [] {
            guard let (number, fencingToken) = ManifestPath.parse(fileName: file) else { continue }
            fences[number, default: []].append(fencingToken)
        }
        return fences.mapValues { $0.sorted(by: >) }
    }

    private static func lines(of text: [UInt8], _ path: String, isLenient: Bool) throws(ManifestError) -> [ManifestLine]
    {
        let decoder = UntrustedJSON()
        var lines: [ManifestLine] = []
        for (position, line) in text.split(separator: UInt8(ascii: "\n")).enumerated() {
            do {
                lines.append(try decoder.decode(ManifestLine.self, from: line))
            } catch {
                guard !isLenient else { continue }
                throw ManifestError(
                    .damaged,
                    "\(path), line \(position + 1): no line of a manifest (found "
                        + "\"\(String(decoding: line.prefix(60), as: UTF8.self))\"); Darkroom writes these files whole, so "
                        + "something else has changed it: remove the line to read the rest")
            }
        }
        return lines
    }
}
