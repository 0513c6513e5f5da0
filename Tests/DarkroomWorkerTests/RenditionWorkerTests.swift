import DarkroomRecipes
import DarkroomModel
import DarkroomPhotoServer
import DarkroomRedis
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomStorage
@testable import DarkroomWorker

/// Workers and batches with several renditions.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct RenditionWorkerTests {
    private static let renditions = [
        PhotoRendition("small", filters: [PhotoFilter("resize=100")], encoding: PhotoEncoding("format=webp")),
        PhotoRendition("grey", filters: [PhotoFilter("grayscale")]),
    ]

    let darkroom: Darkroom
    let photos: PhotoServer

    init() throws {
        darkroom = try Darkroom(.current)
        photos = try PhotoServer(folder: TestFiles.samples)
    }

    private func submit(_ names: [String]) throws -> BatchID {
        try darkroom.submit(names.map(photos.url), darkroom.options { $0.renditions = Self.renditions })
    }

    private func files() throws -> Set<String> {
        Set(
            try FileManager.default.subpathsOfDirectory(atPath: darkroom.folder).filter {
                $0.contains("-") && !$0.hasPrefix("manifest")
            })
    }

    /// If a worker ignored the damaged field, it would make other files than the user requested. Therefore it refuses
    /// the batch.
    @Test(arguments: [
        ("renditions", "small = resize=100\n../grey = grayscale\n"), ("renditions", "small"), ("renditions", "\u{0}"),
        ("renditions", "small = resize=100\nsmall = grayscale\n"), ("renditions", "small = sepai"),
        ("renditions", String(repeating: "#", count: 200_000)), ("encoding", "quality=900"), ("encoding", "format=bmp"),
        ("filters", "sepai"), ("quality", "70"),
    ]) func damagedRecipeIsRefused(field: String, text: String) throws {
        let id = try submit(["/moon.png"])
        let key = darkroom.keys.batch(id)
        if field == "filters" { _ = try darkroom.store.connection.call(.init("HSET", key, "renditions", "")) }
        _ = try darkroom.store.connection.call(.init("HSET", key, field, text))
        try darkroom.withWorker { _ in
            darkroom.waitForLog("batch is left to other workers")
            // The worker still runs other batches.
            try darkroom.wait(try submit(["/moon.png"]))
        }
        #expect(try darkroom.store.facts(of: id)?.counts.new == 1)
        #expect(try files() == ["small/000000-moon.webp", "grey/000000-moon.png"])
    }

    /// A claim that lost its manifest: the lines are made from the files that exist.
    @Test func linesAreMadeAgainFromTheFilesOfAllRenditions() throws {
        let id = try submit(["/moon.png", "/flower.jpg"])
        let held = try claimAsCrashedWorker()
        _ = try darkroom.store.perform(
            darkroom.store.report(
                held, worker: "crashed", stateCodes: Array("F.".utf8), bytesIn: 1, bytesOut: 1, failures: []))
        _ = try darkroom.store.perform(darkroom.store.release(held, worker: "crashed"))
        for path in ["small/000000-moon.webp", "grey/000000-moon.png"] {
            let file = URL(fileURLWithPath: "\(darkroom.folder)/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(path.utf8).write(to: file)
        }
        try darkroom.withWorker { _ in try darkroom.wait(id) }
        try darkroom.check(id)
        let line = try #require(try darkroom.manifest(of: id)[0])
        #expect(line.files.map(\.file) == ["small/000000-moon.webp", "grey/000000-moon.png"])
        #expect(line.files.map(\.filters) == ["resize=100x", "grayscale=1"])
    }

    /// Claims the only operation as a worker that has crashed since.
    private func claimAsCrashedWorker() throws -> HeldOperation {
        let claim = darkroom.store.claim(worker: "crashed", number: 1, operations: 1)
        guard case .claimed(let claimed) = try darkroom.store.perform(claim) else { throw POSIXError(.EAGAIN) }
        return try #require(claimed.operations.first?.held)
    }

    /// A worker was killed after it had given the first of two files its name.
    @Test func photoOfAWorkerThatWasKilledBetweenTwoNamesGetsAllFiles() throws {
        let id = try submit(["/moon.png"])
        let held = try claimAsCrashedWorker()
        let temporary = TemporaryName.of(
            TemporaryName.photo(0, of: id), fencingToken: held.fencingToken, writer: "crashed.1")
        for path in ["small/000000-moon.webp", "grey/\(temporary)"] {
            let file = URL(fileURLWithPath: "\(darkroom.folder)/\(path)")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data("earlier".utf8).write(to: file)
        }
        let facts = try darkroom.withWorker { _ in
            while try darkroom.store.perform(darkroom.store.expireLeases()) {}
            return try darkroom.wait(id)
        }
        #expect(facts.counts.filtered == 1)
        try darkroom.check(id)
        #expect(try files() == ["small/000000-moon.webp", "grey/000000-moon.png"])
    }

    /// Passes the first photo of the list through. Waits in every other one until it is cancelled.
    private struct Hold: CustomFilter {
        let began: DispatchSemaphore

        func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
            guard photo.record.index > 0 else { return photo.bytes }
            began.signal()
            while !photo.isCancelled { usleep(1000) }  // an operation can only poll for this
            return photo.bytes
        }
    }

    /// A photo is cancelled after one of its files is made. It leaves no file, and other photos keep both.
    @Test func cancelledPhotoLeavesNoFile() throws {
        let began = DispatchSemaphore(value: 0)
        let id = try darkroom.submit(
            ["/moon.png", "/flower.jpg", "/china.jpg"].map(photos.url),
            darkroom.options { options in
                options.renditions = [Self.renditions[0], PhotoRendition("held", filters: [.custom("hold")])]
            })
        let facts = try darkroom.withWorker {
            // The photos arrive in any order, and two of them occupy a place until they are cancelled.
            $0.filtrations = 3
            try $0.addFilter("hold") { Hold(began: began) }
        } run: { _ in
            #expect(began.wait(timeout: .now() + 20) == .success)
            try darkroom.wait(id, "reported", until: { $0.counts.filtered == 1 })
            _ = try darkroom.store.perform(darkroom.store.cancel(id))
            return try darkroom.wait(id)
        }
        #expect(facts.counts.filtered == 1 && facts.counts.cancelled == 2)
        #expect(try files() == ["small/000000-moon.webp", "held/000000-moon.png"])
        let left = try FileManager.default.subpathsOfDirectory(atPath: darkroom.folder).filter { $0.contains("/.") }
        #expect(left.isEmpty)
    }
}
