import DarkroomModel
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCoordinator

@Suite struct OutputFolderTests {
    let batch = BatchID("20261121-090501123-7f3a")
    let other = BatchID("20261121-090501124-0000")

    func code(_ body: () throws -> Void) -> CoordinatorError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? CoordinatorError)?.code
        }
    }

    func withFolder(_ body: (OutputFolder) throws -> Void) throws {
        let path = NSTemporaryDirectory() + "darkroom-output-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(OutputFolder(path: path + "/a/b"))
    }

    @Test func makesTheFolderAndTheManifestsFolderAndNothingElse() throws {
        try withFolder { folder in
            #expect(try folder.batches() == [])
            try folder.prepare(for: batch, overwrite: false)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["manifest"])
            #expect(try folder.batches() == [batch])
            #expect(folder.isUntouched(by: batch))
            try folder.prepare(for: batch, overwrite: false)
        }
    }

    @Test func refusesTheFolderOfAnotherBatchUnlessTold() throws {
        try withFolder { folder in
            try folder.prepare(for: other, overwrite: false)
            #expect(code { try folder.prepare(for: batch, overwrite: false) } == .outputTaken)
            #expect(try folder.batches() == [other])
            try folder.prepare(for: batch, overwrite: true)
            #expect(try folder.batches() == [batch, other])
            folder.withdraw(batch)
            #expect(try folder.batches() == [other])
            folder.withdraw(other)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test func saysWhatIsInTheWay() throws {
        try withFolder { folder in
            try folder.create()
            let file = folder.path + "/file"
            try Data().write(to: URL(fileURLWithPath: file))
            for path in [file, file + "/below", "/proc/darkroom"] {
                #expect(code { try OutputFolder(path: path).prepare(for: batch, overwrite: false) } == .outputDenied)
            }
            try Data().write(to: URL(fileURLWithPath: folder.path + "/manifest"))
            #expect(code { try folder.prepare(for: batch, overwrite: false) } == .outputDenied)
        }
    }
}
