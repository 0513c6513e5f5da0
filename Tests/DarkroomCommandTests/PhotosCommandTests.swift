import Darkroom
import DarkroomStorage
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomCommand

/// `photos`: combines state codes, manifest, failures and entries.
@Suite(.redisServer, .serialized)
struct PhotosCommandTests {
    private static let urls = (0..<5).map { "http://photos.example/\($0)" }

    @Test func namesComeFromManifestFailuresAndEntries() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) { $0.operationSize = 3 }
        let claimed = try queue.claim(operations: 1)
        let record = PhotoRecord(index: 0, name: "photo 0", url: Self.urls[0])
        var line = ManifestLine(batch: id, record: record, state: .filtered)
        line.file = "000000-photo 0.jpg"
        var text: [UInt8] = []
        line.append(to: &text)
        let name = ManifestPath.fileName(operation: 1, fencingToken: claimed[0].held.fencingToken)
        try Data(text).write(to: URL(fileURLWithPath: "\(queue.folder)/\(ManifestPath.folder(id))/\(name)"))
        let failure = (index: 1, json: Array(#"{"name":"photo 1","url":"http://h/1","detail":"404 Not Found"}"#.utf8))
        _ = try queue.store.perform(
            queue.store.report(
                claimed[0].held, worker: "tester", stateCodes: Array("FiD".utf8), bytesIn: 0, bytesOut: 0,
                failures: [failure]))
        let outcome = try queue.run("photos", "\(id)")
        #expect(
            outcome.lines == [
                "0\tfiltered\t\tphoto 0\t000000-photo 0.jpg\thttp://photos.example/0\t",
                "1\tfailed\thttp-4xx\tphoto 1\t\thttp://h/1\t404 Not Found",
                "2\tdownloaded\t\tphoto 2\t\thttp://photos.example/2\t",
                "3\tnew\t\tphoto 3\t\thttp://photos.example/3\t", "4\tnew\t\tphoto 4\t\thttp://photos.example/4\t",
            ])
        #expect(outcome.standardError.isEmpty)

        let json = try #require(try queue.run("photos", "\(id)", "--json").json() as? [[String: Any]])
        #expect(json.map { $0["name"] as? String } == (0..<5).map { "photo \($0)" })
        #expect(json[1]["reason"] as? String == "http-4xx" && json[0]["reason"] is NSNull)
        #expect(try queue.run("photos", "\(id)", "--state", "failed").lines.map { $0.prefix(1) } == ["1"])
        #expect(try queue.run("photos", "\(id)", "--state", "new", "--state", "downloaded").lines.count == 3)
    }

    @Test func withoutAManifestAFinalPhotoHasIndexAndState() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        try queue.develop("F", writesManifest: false)
        let outcome = try queue.run("photos", "\(id)")
        #expect(outcome.lines == (0..<5).map { "\($0)\tfiltered\t\t\t\t\t" })
        let manifest = "their manifest, \(queue.folder)/manifest/\(id), is not on this machine"
        let warning = "warning: the names of some photos are not shown: \(manifest)"
        #expect(outcome.standardError.contains(warning))
        #expect(outcome.status == 0)
    }

    @Test func listsManyOperationsInOrder() throws {
        let queue = try Queue()
        let id = try queue.submit((0..<1100).map { "http://photos.example/\($0)" }) { $0.operationSize = 1 }
        let lines = try queue.run("photos", "\(id)").lines
        #expect(lines == (0..<1100).map { "\($0)\tnew\t\tphoto \($0)\t\thttp://photos.example/\($0)\t" })
    }

    /// If the batch is forgotten while the first part is listed, names are missing. If it is forgotten between two
    /// parts, state codes are missing.
    @Test(arguments: [(100, 1), (3000, 999)])
    func forgettingABatchDuringItsListingIsAnError(count: Int, listedBefore: Int) throws {
        let queue = try Queue()
        let id = try queue.submit((0..<count).map { "http://photos.example/\($0)" }) { $0.operationSize = 1 }
        var listing = PhotoListing(try queue.store.batch(named: "\(id)"), in: queue.client) { _ in true }
        var listed = 0
        let error = expectError(DarkroomError.self) {
            try listing.forEach { _ in
                listed += 1
                guard listed == listedBefore else { return }
                while try queue.store.perform(queue.store.forget(id, unfinished: true)) == .more {}
            }
        }
        #expect(listed < count && error?.message.contains("was forgotten while its photos were listed") == true)
    }

    @Test(arguments: ["photos", "operations"]) func lostStateCodesAreAnError(_ command: String) throws {
        let queue = try Queue()
        let id = try queue.submit((0..<4).map { "http://photos.example/\($0)" }) { $0.operationSize = 2 }
        _ = try queue.store.connection.call(.init("SET", queue.store.keys.states(id), "N"))
        let outcome = try queue.run(command, "\(id)")
        #expect(outcome.status == 1)
        #expect(outcome.standardError.contains("lost the states of 3 photos while its \(command) were listed"))
    }

    @Test func damagedFailuresAreOmitted() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        try queue.develop("g", writesManifest: false)
        let good = #"{"name":"kept","url":"http://h/1"}"#
        for (index, json) in [("1", good), ("01", good), ("+1", good), ("2", "{"), ("x", good), ("-5", good)] {
            _ = try queue.store.connection.call(.init("HSET", queue.store.keys.failures(id), index, json))
        }
        let outcome = try queue.run("photos", "\(id)", "--state", "failed")
        #expect(outcome.status == 0 && outcome.lines.count == 5)
        #expect(outcome.lines[1].contains("kept"))
    }

    @Test func unstartedPhotosOfACancelledBatchAreCancelled() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        _ = try queue.store.connection.call(.init("HSET", queue.store.keys.batch(id), "flag.cancelled", "1"))
        #expect(try queue.run("photos", "\(id)", "--state", "cancelled").lines.count == 5)
        #expect(try queue.run("photos", "\(id)", "--state", "new").lines.isEmpty)
    }
}
