import DarkroomModel
import DarkroomStorage
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStore
@testable import DarkroomWorker

/// The problem code of a refused batch, which is derived from the text of the worker's refusal.
@Suite struct RefusalCodeTests {
    private static let now = 1_795_252_101_000
    private static let id = BatchID("20261121-090501123-7f3a")

    /// The problem code of a batch with these options that the only worker refuses.
    private func code(
        _ options: BatchOptions, outputsUnder: [String] = [], filesUnder: [String] = []
    ) throws -> BatchProblem.Code? {
        var configuration = PhotoWorkerConfiguration()
        configuration.downloadRules.folders = filesUnder
        configuration.outputFolders = outputsUnder
        var reason = ""
        do throws(Refusal) {
            _ = try BatchContext(Self.id, options, configuration)
        } catch {
            reason = error.text
        }
        let numbers = [
            "round", "operations.ended", "operations.kept", "executing", "count.downloaded", "count.filtered",
            "count.failed", "count.cancelled", "bytes.in", "bytes.out", "submitted",
        ]
        let zeros = Dictionary(uniqueKeysWithValues: numbers.map { ($0, "0") })
        let fields = [
            "state": "ready", "sealed": "1", "photos": "1", "operations": "1", "feeder.seen": "\(Self.now)",
            "size": "50", "lease": "15000",
        ]
        let batch = try #require(
            BatchFacts(id: Self.id, fields: zeros.merging(fields) { $1 }, reasons: [:]))
        let worker = WorkerFacts(id: "w", seen: Self.now, fields: ["refused": "\(Self.id): \(reason)"])
        let problems = BatchProblems(workers: [worker], cluster: ClusterControls(), now: Self.now, known: [])
        return problems.of(batch).first?.code
    }

    @Test func reportsAMissingFolder() throws {
        var options = BatchOptions()
        options.output = NSTemporaryDirectory() + "darkroom-none-\(UUID().uuidString)"
        #expect(try code(options) == .folderMissing)
    }

    @Test func reportsAMissingOption() throws {
        var options = BatchOptions()
        options.output = "/photos/holidays"
        #expect(try code(options, outputsUnder: ["/elsewhere"]) == .optionMissing)
    }

    @Test func reportsAForbiddenOrMissingFolderOfPhotos() throws {
        var options = BatchOptions()
        options.photosFolder = NSTemporaryDirectory() + "darkroom-none-\(UUID().uuidString)/photos"
        #expect(try code(options) == .optionMissing)
        #expect(try code(options, filesUnder: ["/elsewhere"]) == .optionMissing)
        #expect(try code(options, filesUnder: [NSTemporaryDirectory()]) == .folderMissing)
        options.photosFolder = NSTemporaryDirectory() + "../etc"
        #expect(try code(options, filesUnder: [NSTemporaryDirectory()]) == .optionMissing)
    }

    @Test func acceptsAFolderOfPhotosBelowALinkGivenByTheOption() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path
        try scratch.makeFolder("real")
        #expect(symlink("real", folder + "/link") == 0)
        var (options, configuration) = (BatchOptions(), PhotoWorkerConfiguration())
        options.photosFolder = folder + "/real"
        configuration.downloadRules.folders = [folder + "/link"]
        _ = try BatchContext(Self.id, options, configuration)
    }

    @Test func reportsAnUnknownCustomFilter() throws {
        var options = BatchOptions()
        options.filters = [.custom("signature")]
        #expect(try code(options) == .refused)
    }
}
