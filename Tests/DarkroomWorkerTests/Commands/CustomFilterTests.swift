import DarkroomConcurrency
import DarkroomImaging
import DarkroomModel
import DarkroomPhotoServer
import DarkroomRecipes
import DarkroomStorage
import DarkroomStore
import DarkroomTestSupport
import DarkroomTransfer
import Foundation
import Testing

@testable import DarkroomWorker
@testable import DarkroomWorkerState

/// Returns the index, the name and the number of bytes of the photo.
private struct Count: CustomFilter {
    func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
        Array("\(photo.record.index) \(photo.record.name) \(photo.bytes.count)".utf8)
    }
}

/// Returns the bytes of the photo unchanged.
private struct Copy: CustomFilter {
    func main(_ photo: DownloadedPhoto) throws -> [UInt8] { photo.bytes }
}

/// Returns the photo, and notes its format and arguments.
private struct Spy: CustomFilter {
    let seen: Locked<[(format: ImageFormat?, arguments: String)]>

    func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
        let format = photo.bytes.withUnsafeBytes { ImageFormat(contentOf: $0) }
        seen.withLock { $0.append((format, photo.arguments)) }
        return photo.bytes
    }
}

/// Fails for every photo.
private struct Picky: CustomFilter {
    struct Dislike: Error, LocalizedError {
        let errorDescription: String? = "the sky is missing"
    }

    func main(_ photo: DownloadedPhoto) throws -> [UInt8] { throw Dislike() }
}

/// Runs until it is cancelled, and then returns a result.
private struct Patient: CustomFilter {
    let began: DispatchSemaphore
    let ended: DispatchSemaphore

    init() { preconditionFailure("made by a closure") }

    init(began: DispatchSemaphore, ended: DispatchSemaphore) {
        self.began = began
        self.ended = ended
    }

    func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
        began.signal()
        while !photo.isCancelled { usleep(1000) }  // a loop over pixels would check this, too
        ended.signal()
        return [1]
    }
}

/// Computes until it is cancelled. Then throws an error for the first photo and returns a result for other photos.
private struct Endless: CustomFilter {
    func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
        while !photo.isCancelled {}
        if photo.record.index == 0 { throw CancellationError() }
        return photo.bytes
    }
}

/// Fails with a text that is a single `Character` of 5,001 Unicode scalars.
private struct Combining: CustomFilter {
    struct Failure: Error, LocalizedError {
        var errorDescription: String? { "e" + String(repeating: "\u{301}", count: 5000) }
    }

    func main(_ photo: DownloadedPhoto) throws -> [UInt8] { throw Failure() }
}

@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct CustomFilterTests {
    let darkroom: Darkroom
    let photos: PhotoServer

    init() throws {
        darkroom = try Darkroom(.current)
        photos = try PhotoServer(folder: TestFiles.samples)
    }

    @Test func textOfAnErrorIsTruncatedByUnicodeScalars() throws {
        #expect {
            try PhotoMaker.run(
                Combining(), PhotoFilter.Custom(name: "x"), PhotoRecord(index: 0, name: "", url: ""), [],
                DevelopOptions(outputs: []))
        } throws: { error in
            (error as? PhotoProduct.Failure)?.detail.unicodeScalars.count == 1000
        }
    }

    /// The check of the folder also accesses the folder, so it may hang.
    @Test func operationHangsWhileTheFolderOfItsFileIsChecked() throws {
        var configuration = PhotoWorkerConfiguration()
        try configuration.addFilter("copy") { Copy() }
        let options = darkroom.options { $0.filters = [PhotoFilter("x:copy")] }
        let id = try darkroom.submit([], options)
        let context = try BatchContext(id, options, configuration)
        let operation = HeldOperation(batch: id, number: 1, fencingToken: 1)
        let photo = try RunningPhoto(PhotoRecord(index: 0, name: "", url: ""), of: operation, context)
        try FileManager.default.removeItem(atPath: darkroom.folder)
        let calls = FileCalls(patience: .seconds(10), claimPatience: .seconds(5))
        let hanging = Locked<Set<HeldOperation>>([])
        let filtration = PhotoFiltration(
            photo: photo, image: Download(found: [1], duration: .zero), worker: "worker", attempt: 1, fileCalls: calls,
            isWanted: { true },
            isWaitedFor: { _ in
                let found = calls.hanging(.now + .seconds(60), limits: (2, 2)).operations
                hanging.withLock { $0 = found }
                return true
            })
        let outcome = filtration.run(PhotoMaker(context.recipe))
        #expect(outcome == nil && hanging.withLock { $0 } == [operation])
    }

    private func run(
        _ urls: [String], _ options: BatchOptions, _ change: (inout WorkerSetup) throws -> Void
    ) throws -> (id: BatchID, facts: BatchFacts) {
        let id = try darkroom.submit(urls, options)
        let facts = try darkroom.withWorker(change) { _ in try darkroom.wait(id) }
        try darkroom.check(id)
        return (id, facts)
    }

    @Test func cancelsAnOperationThatExceedsItsCPUTimeLimit() throws {
        let id = try darkroom.submit(
            [photos.url("astronaut.jpg"), photos.url("moon.png")],
            darkroom.options { $0.filters = [.custom("endless")] })
        let facts = try darkroom.withWorker {
            try $0.addFilter("endless") { Endless() }
            $0.photoTimeout = .milliseconds(50)
        } run: { _ in
            try darkroom.wait(id)
        }
        #expect(facts.failures == [.filterTimeout: 2])
    }

    @Test func customOperationReplacesTheFilters() throws {
        let server = try HostileServer(["/a.txt": .answer(body: Array("hello".utf8))])
        defer { server.stop() }
        let options = darkroom.options { $0.filters = [.custom("count")] }
        let (id, facts) = try run([photos.url("astronaut.jpg"), server.url("/a.txt"), photos.url("none.jpg")], options)
        {
            try $0.addFilter("count") { Count() }
        }
        #expect(facts.counts.filtered == 2 && facts.failures == [.httpClientError: 1])
        let lines = try darkroom.manifest(of: id)
        #expect(lines[1]?.file == "000001-a.txt" && lines[1]?.width == nil)
        let text = try #require(FileManager.default.contents(atPath: "\(darkroom.folder)/000001-a.txt"))
        #expect(String(decoding: text, as: UTF8.self) == "1 a.txt 5")
    }

    @Test func fileEndingComesFromTheContentOrElseFromTheNameOrURL() throws {
        let server = try HostileServer([
            "/plain": .answer(body: Array("x".utf8)), "/list.CSV?v=1": .answer(body: Array("x".utf8)),
        ])
        defer { server.stop() }
        // The names are the last parts of the URLs.
        let urls = [
            photos.url("astronaut.jpg"), photos.url("moon.png"), server.url("/plain"), server.url("/list.CSV?v=1"),
        ]
        let (id, _) = try run(urls, darkroom.options { $0.filters = [.custom("copy")] }) {
            try $0.addFilter("copy") { Copy() }
        }
        let lines = try darkroom.manifest(of: id)
        #expect(lines[0]?.file == "000000-astronaut.jpg" && lines[1]?.file == "000001-moon.png")
        #expect(lines[2]?.file == "000002-plain.bin")
        #expect(lines[3]?.file?.hasSuffix(".csv") == true)
        #expect(
            FileManager.default.contents(atPath: "\(darkroom.folder)/000001-moon.png")
                == FileManager.default.contents(atPath: "\(TestFiles.samples)/moon.png"))
    }

    @Test func findsTheFileEndingInTheNameOrURL() {
        let names = ["a", "a.txt", "a.b", ".txt", "photo.1234", "photo.x86-64"]
        let endings = names.map {
            CustomEnding.of(Array("x".utf8), PhotoRecord(index: 0, name: $0, url: "http://h.example/"))
        }
        #expect(endings == ["bin", "txt", "b", "bin", "bin", "bin"])
        let fromURL = PhotoRecord(index: 0, name: "a", url: "http://h.example/x/y.Tar?z=1.gz#a.b")
        #expect(CustomEnding.of([], fromURL) == "tar")
        #expect(CustomEnding.of([], PhotoRecord(index: 0, name: "a", url: "http://h.example")) == "bin")
        #expect(CustomEnding.candidates(fromURL).contains("tar"))
    }

    @Test func descriptionOfAThrownErrorIsTheDetailOfTheFailure() throws {
        let (id, facts) = try run([photos.url("astronaut.jpg")], darkroom.options { $0.filters = [.custom("picky")] }) {
            try $0.addFilter("picky") { Picky() }
        }
        #expect(facts.failures == [.filterFailed: 1])
        #expect(try darkroom.manifest(of: id)[0]?.detail == "the sky is missing")
    }

    @Test func workerWithoutTheFilterLeavesTheBatchToOtherWorkers() throws {
        let id = try darkroom.submit([photos.url("moon.png")], darkroom.options { $0.filters = [.custom("count")] })
        try darkroom.withWorker {
            try $0.addFilter("copy") { Copy() }
        } run: { _ in
            darkroom.waitForLog("for x:count: registered with it are copy")
            let facts = try darkroom.withWorker {
                try $0.addFilter("count") { Count() }
            } run: { _ in
                try darkroom.wait(id)
            }
            #expect(facts.counts.filtered == 1)
        }
    }

    @Test func operationStandsBetweenFilters() throws {
        let seen = Locked<[(format: ImageFormat?, arguments: String)]>([])
        let options = darkroom.options {
            $0.filters = [PhotoFilter("resize=50x40"), .custom("spy", arguments: "a b"), PhotoFilter("rotate=90")]
            $0.encoding = PhotoEncoding("format=webp")
        }
        let (id, facts) = try run([photos.url("astronaut.jpg")], options) {
            try $0.addFilter("spy") { Spy(seen: seen) }
        }
        #expect(facts.counts.filtered == 1)
        let line = try #require(try darkroom.manifest(of: id)[0])
        #expect(line.file == "000000-astronaut.webp" && line.width == 40 && line.height == 50)
        #expect(line.filters == "resize=50x40 x:spy=\"a b\" rotate=90")
        #expect(seen.withLock { $0.map(\.format) } == [.png] && seen.withLock { $0.map(\.arguments) } == ["a b"])
    }

    @Test func cancelOfABatchCancelsItsRunningOperations() throws {
        let began = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let id = try darkroom.submit([photos.url("moon.png")], darkroom.options { $0.filters = [.custom("patient")] })
        let facts = try darkroom.withWorker {
            try $0.addFilter("patient") { Patient(began: began, ended: ended) }
        } run: { _ in
            #expect(began.wait(timeout: .now() + 20) == .success)
            _ = try darkroom.store.perform(darkroom.store.cancel(id))
            #expect(ended.wait(timeout: .now() + 20) == .success, "the operation was not cancelled")
            return try darkroom.wait(id)
        }
        #expect(facts.cancelled && facts.counts.cancelled == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: darkroom.folder) == ["manifest"])
    }

    @Test func discardsTheResultOfACancelledOperation() throws {
        let began = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let id = try darkroom.submit([photos.url("moon.png")], darkroom.options { $0.filters = [.custom("patient")] })
        try darkroom.withWorker {
            $0.gracePeriod = .milliseconds(50)
            try $0.addFilter("patient") { Patient(began: began, ended: ended) }
        } run: { _ in
            #expect(began.wait(timeout: .now() + 20) == .success)
        }
        #expect(ended.wait(timeout: .now() + 20) == .success, "the operation was not cancelled")
        let facts = try #require(try darkroom.store.facts(of: id))
        #expect(facts.counts.new == 1 && facts.executing == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: darkroom.folder) == ["manifest"])
    }

    @Test func restoresTheManifestLineOfAFileOfACustomFilter() throws {
        let server = try HostileServer([
            "/a.txt": .answer(body: Array("hello".utf8)), "/slow": .held(.answer(status: 404)),
        ])
        defer { server.stop() }
        let id = try darkroom.submit(
            [server.url("/a.txt"), server.url("/slow")], darkroom.options { $0.filters = [.custom("copy")] })
        try darkroom.withWorker {
            $0.gracePeriod = .milliseconds(100)
            try $0.addFilter("copy") { Copy() }
        } run: { _ in
            try darkroom.wait(id, "partly reported") { $0.counts.filtered == 1 }
        }
        let manifest = "\(darkroom.folder)/\(ManifestPath.folder(id))"
        for name in try FileManager.default.contentsOfDirectory(atPath: manifest) { unlink("\(manifest)/\(name)") }
        server.release()
        try darkroom.withWorker {
            try $0.addFilter("copy") { Copy() }
        } run: { _ in
            try darkroom.wait(id)
        }
        try darkroom.check(id)
    }

    @Test(arguments: ["", "a b", "a/b", "x:a", "ä"]) func rejectsInvalidFilterNames(_ name: String) {
        var configuration = PhotoWorkerConfiguration()
        #expect(throws: InvalidFilterName.self) { try configuration.addFilter(name) { Copy() } }
    }
}
