import DarkroomModel
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomStorage

/// Files of photos as readers open them, in every storage.
@Suite struct StoredResultsTests {
    @Test(arguments: StorageKind.allCases) func readerFindsTheFilesOfTheManifest(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(), renditions: ["large", "small"])
        let sink = try batch.sink()
        let found = try sink.write(batch.made("photo"), of: batch.record(0), attempt: 1) { true }
        var line = ManifestLine(batch: batch.id, record: batch.record(0), state: .filtered)
        line.note(try #require(found))
        try sink.write([line.text(redactingQuery: false), nil, nil, nil])
        let paths = try batch.readLines().flatMap(\.paths)
        #expect(try paths.map(batch.text) == ["photolarge", "photosmall"])
        let file = try batch.place.results.open(paths[0])
        #expect(file.size == 10)
        // An open file stays whole when the photo is developed again.
        _ = try sink.write(batch.made("a longer text"), of: batch.record(0), attempt: 2) { true }
        #expect(bytes(of: file.descriptor) == Array("photolarge".utf8))
        #expect(try batch.text(paths[0]) == "a longer textlarge")
    }

    @Test(arguments: StorageKind.allCases) func missingFileIsNamedAsMissing(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        for path in ["000000-0.jpg", "small/000000-0.jpg", "00001/a.jpg"] {
            let error = expectError(StoredFileError.self) { try batch.place.results.open(path) }
            #expect(error?.isMissing == true && error?.text.isEmpty == false)
        }
    }

    /// Strangers may have written the path of a file in the manifest.
    @Test(
        arguments: StorageKind.allCases,
        ["../other/secret", "a/../../other/secret", "/etc/passwd", "secret\0.jpg", "..", "./../other/secret"])
    func hostilePathIsNotFollowed(kind: StorageKind, path: String) throws {
        let batch = try TestBatch(kind.harness(), in: "photos")
        let other = try TestBatch(batch.harness, 1, in: "other", template: "{stem}", isCustom: true)
        for batch in [batch, other] {
            _ = try batch.sink().write(
                batch.made("s"), of: PhotoRecord(index: 0, name: "secret", url: "u"), attempt: 1
            ) { true }
        }
        let error = expectError(StoredFileError.self) { try batch.place.results.open(path) }
        #expect(error?.isMissing == false)
    }

    @Test(arguments: StorageKind.allCases, ["", "."]) func placeIsNotAFile(kind: StorageKind, path: String) throws {
        let batch = try TestBatch(kind.harness())
        _ = expectError(StoredFileError.self) { try batch.place.results.open(path) }
    }

    @Test(arguments: StorageKind.allCases) func linkIsNotFollowed(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let other = try TestBatch(batch.harness, 1, in: "other")
        _ = try other.sink().write(other.made("secret"), of: other.record(0), attempt: 1) { true }
        let links = [("folder", "../other"), ("file.jpg", "../other/000000-0.jpg")]
        for (path, target) in links {
            guard try batch.harness.link(path, to: target, in: batch.place) else { return }
        }
        for path in ["folder/000000-0.jpg", "file.jpg"] {
            let error = expectError(StoredFileError.self) { try batch.place.results.open(path) }
            #expect(error?.isMissing == false)
        }
    }

    @Test(arguments: StorageKind.allCases) func processReadsOnlyItsPlaces(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        _ = try batch.sink().write(batch.made("photo"), of: batch.record(0), attempt: 1) { true }
        #expect(batch.place.results(in: TrustedPlaces([])) == nil)
        #expect(batch.place.results(in: TrustedPlaces(["/proc/self", batch.harness.trusted + "/other"])) == nil)
        let results = try #require(batch.place.results(in: TrustedPlaces([batch.harness.trusted])))
        #expect(try results.manifest.batches() == [batch.id])
        #expect(try results.open("000000-0.jpg").size == 5)
    }

    private func bytes(of descriptor: Int32) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        close(descriptor)
        return Array(bytes.prefix(max(0, count)))
    }
}
