import DarkroomModel
import Foundation

/// The files of up to a thousand operations of a batch that follow one another, those of one folder.
///
/// An operation has a file for each claim under which photos of it became final; the highest fence has them all, and
/// whoever wrote it removes the others.
public struct ManifestPart: Sendable {
    /// As many operations share a folder.
    public static let size = 1000

    private let folder: String
    private var fences: [Int: Int]

    init(folder: String) throws(ManifestError) {
        self.folder = folder
        fences = try Self.highestFences(in: folder)
    }

    /// The numbers of the operations that have lines, ascending.
    public var operations: [Int] { fences.keys.sorted() }

    /// The lines of an operation, by index; none when there is no file of it.
    public mutating func lines(ofOperation number: Int) throws(ManifestError) -> [ManifestLine] {
        while let fence = fences[number] {
            let path = folder + ManifestPath.fileName(operation: number, fence: fence)
            if let text = try Self.contents(of: path) { return try Self.lines(of: text, path) }
            // Removed since the folder was read: there is a higher fence now, or the batch was forgotten.
            let now = try Self.highestFences(in: folder)
            guard now[number] != fence else { throw ManifestError(.unreadable, "\(path) is listed but not there") }
            fences[number] = now[number]
        }
        return []
    }

    private static func highestFences(in folder: String) throws(ManifestError) -> [Int: Int] {
        var fences: [Int: Int] = [:]
        for file in try ManifestReader.names(in: folder) ?? [] {
            guard let (number, fence) = ManifestPath.parse(fileName: file) else { continue }
            fences[number] = max(fence, fences[number] ?? 0)
        }
        return fences
    }

    /// A file's bytes; nil when there is no such file.
    private static func contents(of path: String) throws(ManifestError) -> Data? {
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        } catch {
            throw ManifestError(.unreadable, "\(path): \(error.localizedDescription)")
        }
    }

    private static func lines(of text: Data, _ path: String) throws(ManifestError) -> [ManifestLine] {
        let decoder = JSONDecoder()
        var lines: [ManifestLine] = []
        for (position, line) in text.split(separator: UInt8(ascii: "\n")).enumerated() {
            do {
                lines.append(try decoder.decode(ManifestLine.self, from: line))
            } catch {
                throw ManifestError(
                    .damaged,
                    "\(path), line \(position + 1): no line of a manifest (found "
                        + "\"\(String(decoding: line.prefix(60), as: UTF8.self))\"); Darkroom writes these files whole, so "
                        + "something else has changed it: remove the line to read the rest")
            }
        }
        return lines.sorted { $0.index < $1.index }
    }
}
