import DarkroomModel
import DarkroomStorage
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

/// Reads manifests while workers write them.
@Suite final class FolderManifestTests {
    private let scratch: ScratchFolder
    private var output: String { scratch.path("output") }
    private let first = BatchID("20261121-090501123-7f3a")
    private let second = BatchID("20261121-090501999-0000")

    init() throws { scratch = try ScratchFolder() }

    @Test func readsBatchByBatchInOrder() throws {
        try write(second, operation: 1, fencingToken: 5, [0])
        try write(first, operation: 1001, fencingToken: 9, [2000, 2001])
        try write(first, operation: 2, fencingToken: 7, [3, 2])
        try write(first, operation: 1, fencingToken: 7, [0, 1])
        try write(first, operation: 100_000, fencingToken: 7, [199_998])
        let read = try lines().map { "\($0.batch) \($0.index)" }
        #expect(read == [0, 1, 2, 3, 2000, 2001, 199_998].map { "\(first) \($0)" } + ["\(second) 0"])
    }

    @Test func listsTheFolderAgainWhenAFileWithALowerTokenVanished() throws {
        try write(first, operation: 1, fencingToken: 1, [0, 1], name: "old")
        try write(first, operation: 1, fencingToken: 4, [0], name: "partial")
        var part = try StorageSchemes.place(output).results.manifest.part(0, of: first)
        // The worker ends the operation after the folder was listed and before its files are read.
        try write(first, operation: 1, fencingToken: 4, [0, 1], name: "whole")
        try remove(first, operation: 1, fencingToken: 1)
        #expect(try part.lines(ofOperation: 1).map(\.name) == ["whole", "whole"])
    }

    @Test func otherFilesAreIgnored() throws {
        try write(first, operation: 1, fencingToken: 1, [0])
        let folder = "\(output)/\(ManifestPath.folder(first))"
        for name in [".00000001.2.jsonl.worker", "notes.txt", "00000001.jsonl", "0001.3.jsonl"] {
            try Data("no JSON".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        }
        #expect(try lines().count == 1)
    }

    @Test func namesWithNumbersOutOfBoundsAreIgnored() throws {
        try write(first, operation: 1, fencingToken: 1, [0])
        let folder = "\(output)/\(ManifestPath.folder(first))"
        let huge = "9223372036854775807"
        for name in [huge, "-9223372036854775808", "-0001", "+0001", "000001"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        for name in ["\(huge).1", "00000001.\(huge)", "00000001.-1", "00000001.+2", "+0000001.2", "00000001.02"] {
            try Data("no JSON".utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name).jsonl"))
        }
        #expect(try lines().map(\.index) == [0])
    }

    @Test func lineWithANumberOutOfBoundsIsDamaged() throws {
        for field in ["index", "width", "bytes", "downloadMilliseconds"] {
            for value in ["-1", "9223372036854775807", "-9223372036854775808"] {
                try write(first, operation: 1, fencingToken: 1, [0])
                let path =
                    "\(output)/\(ManifestPath.folder(first))/\(ManifestPath.fileName(operation: 1, fencingToken: 1))"
                let text = try String(contentsOfFile: path, encoding: .utf8)
                let damaged =
                    field == "index"
                    ? text.replacingOccurrences(of: "\"index\":0", with: "\"index\":\(value)")
                    : text.replacingOccurrences(of: "\"index\":0", with: "\"index\":0,\"\(field)\":\(value)")
                try Data(damaged.utf8).write(to: URL(fileURLWithPath: path))
                let error = expectError(ManifestError.self) { try lines() }
                #expect(error?.code == .damaged, "\(damaged)")
            }
        }
    }

    /// A user who may write to the folder can plant files. The reader ignores a fencing token that no claim can have.
    @Test(arguments: ["9223372036854775807", "9007199254740993", "-5", "+9", "09", "1e9", "\u{0661}"])
    func fencingTokensThatNoClaimHasAreIgnored(fencingToken: String) throws {
        try write(first, operation: 1, fencingToken: 3, [0], name: "sound")
        var text: [UInt8] = []
        let record = PhotoRecord(index: 0, name: "planted", url: "u")
        ManifestLine(batch: first, record: record, state: .filtered).append(to: &text)
        try Data(text).write(
            to: URL(fileURLWithPath: "\(output)/\(ManifestPath.folder(first))/00000001.\(fencingToken).jsonl"))
        #expect(try lines().map(\.name) == ["sound"])
        for name in ["00000000.1.jsonl", "99999999999.1.jsonl", "000000001.1.jsonl", "-0000001.1.jsonl"] {
            #expect(ManifestPath.parse(fileName: name) == nil, "\(name)")
        }
        #expect(ManifestPath.parse(fileName: "00000001.9007199254740992.jsonl")?.fencingToken == 1 << 53)
        #expect(ManifestPath.parse(fileName: "123456789.0.jsonl")?.operation == 123_456_789)
    }

    @Test func listsTheFolderAgainWhenAFileVanished() throws {
        try write(first, operation: 1, fencingToken: 1, [0], name: "old")
        try write(first, operation: 2, fencingToken: 1, [1], name: "old")
        var part = try StorageSchemes.place(output).results.manifest.part(0, of: first)
        // The worker of a later claim writes its file before it removes the old file.
        try write(first, operation: 1, fencingToken: 4, [0], name: "new")
        try remove(first, operation: 1, fencingToken: 1)
        try remove(first, operation: 2, fencingToken: 1)
        #expect(try part.lines(ofOperation: 1).map(\.name) == ["new"])
        #expect(try part.lines(ofOperation: 2).isEmpty)
        #expect(try part.lines(ofOperation: 3).isEmpty)
    }

    @Test func folderWithoutAManifestIsAnError() throws {
        let missing = try requireError(ManifestError.self) { try lines() }
        #expect(missing.code == .noManifest && missing.description == "\(output): no such folder")
        try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
        let empty = try requireError(ManifestError.self) { try lines() }
        #expect(empty.code == .noManifest)
        #expect(empty.description.contains("there is no folder \"manifest\" in it"))
    }

    @Test func damagedLineIsNamed() throws {
        try write(first, operation: 1, fencingToken: 1, [0])
        let path = "\(output)/\(ManifestPath.folder(first))/\(ManifestPath.fileName(operation: 1, fencingToken: 1))"
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("{\"batch\":".utf8))
        try handle.close()
        let error = try requireError(ManifestError.self) { try lines() }
        #expect(error.code == .damaged)
        #expect(error.description.hasPrefix("\(path), line 2: not a manifest line (found \"{\"batch\":\")"))
    }

    private func lines() throws -> [ManifestLine] {
        var lines: [ManifestLine] = []
        try StorageSchemes.place(output).results.manifest.forEachLine { lines.append($0) }
        return lines
    }

    private func path(_ batch: BatchID, _ operation: Int, _ fencingToken: Int) -> String {
        "\(output)/\(ManifestPath.folder(batch))/\(ManifestPath.subfolder(operation: operation))"
            + ManifestPath.fileName(operation: operation, fencingToken: fencingToken)
    }

    private func write(
        _ batch: BatchID, operation: Int, fencingToken: Int, _ indexes: [Int], name: String = "photo"
    ) throws {
        var text: [UInt8] = []
        for index in indexes {
            let record = PhotoRecord(index: index, name: name, url: "http://photos.example/\(index)")
            ManifestLine(batch: batch, record: record, state: .filtered).append(to: &text)
        }
        let url = URL(fileURLWithPath: path(batch, operation, fencingToken))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text).write(to: url)
    }

    private func remove(_ batch: BatchID, operation: Int, fencingToken: Int) throws {
        try FileManager.default.removeItem(atPath: path(batch, operation, fencingToken))
    }
}
