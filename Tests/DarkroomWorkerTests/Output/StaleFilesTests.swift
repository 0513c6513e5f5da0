import DarkroomRecipes
import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStorage
@testable import DarkroomWorker

/// Stale temporary files of crashed workers.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct StaleFilesTests {
    let darkroom: Darkroom

    init() throws { darkroom = try Darkroom(.current) }

    @Test(arguments: [[], ["small", "grey"]]) func removesStaleFilesOfACancelledBatch(renditions: [String]) throws {
        let options = darkroom.options {
            $0.operationSize = 2
            $0.renditions = renditions.map { PhotoRendition($0, filters: []) }
        }
        let id = try darkroom.submit((0..<3).map { "http://127.0.0.1/\($0)" }, options)
        let claim = darkroom.store.claim(worker: "crashed", number: 1)
        guard case .claimed(let claimed) = try darkroom.store.perform(claim),
            let held = claimed.operations.first?.held
        else {
            Issue.record("nothing was claimed")
            return
        }
        let manifest = ManifestPath.folder(id)
        func inEachFolder(_ names: [String]) throws -> [String] {
            guard !renditions.isEmpty else { return names }
            for folder in renditions {
                try FileManager.default.createDirectory(
                    atPath: "\(darkroom.folder)/\(folder)", withIntermediateDirectories: true)
            }
            return renditions.flatMap { folder in names.map { "\(folder)/\($0)" } }
        }
        let left =
            try inEachFolder([
                TemporaryName.of(TemporaryName.photo(0, of: id), fencingToken: held.fencingToken, writer: "crashed.1"),
                TemporaryName.of(
                    TemporaryName.photo(1, of: id), fencingToken: held.fencingToken - 1, writer: "crashed.2"),
            ]) + [
                manifest + "/"
                    + TemporaryName.of(
                        TemporaryName.manifest(operation: 1), fencingToken: held.fencingToken, writer: "crashed")
            ]
        let others = try inEachFolder([
            TemporaryName.of(TemporaryName.photo(1, of: id), fencingToken: held.fencingToken + 1, writer: "other.1"),
            TemporaryName.of(TemporaryName.photo(7, of: id), fencingToken: held.fencingToken, writer: "other.1"),
            "000000-0.jpg",
        ])
        for name in left + others {
            #expect(FileManager.default.createFile(atPath: darkroom.folder + "/" + name, contents: Data()))
        }
        _ = try darkroom.store.perform(darkroom.store.cancel(id))
        func areThere(_ names: [String]) -> [Bool] {
            names.map { FileManager.default.fileExists(atPath: darkroom.folder + "/" + $0) }
        }
        try darkroom.withWorker { _ in
            while try darkroom.store.perform(darkroom.store.expireLeases()) {}
            try waitUntil("the files are removed") { !areThere(left).contains(true) }
        }
        #expect(!areThere(others).contains(false), "another file was removed")
    }
}
