import Darkroom
import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing
import WorkerSupport

/// Inverts the colours of a photo, in Swift.
private struct Invert: CustomFilter {
    func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
        var pixels = try photo.pixels()
        let hasAlpha = pixels.channels == 2 || pixels.channels == 4
        for index in pixels.samples.indices where !hasAlpha || index % pixels.channels < pixels.channels - 1 {
            pixels.samples[index] = pixels.white - pixels.samples[index]
        }
        return try pixels.png()
    }
}

/// Decodes a photo when it is cancelled.
private struct Late: CustomFilter {
    let began: DispatchSemaphore
    let ended: DispatchSemaphore
    let problem: Locked<String>

    func main(_ photo: DownloadedPhoto) throws -> [UInt8] {
        began.signal()
        defer { ended.signal() }
        while !photo.isCancelled { usleep(1000) }  // an operation can only poll for this
        do {
            return try photo.pixels().png()
        } catch {
            problem.withLock { $0 = "\(error)" }
            throw error
        }
    }
}

/// Operations that change pixels.
@Suite(.redisServer, .timeLimit(.minutes(5))) struct PhotoPixelsTests {

    let client: DarkroomClient
    private let location: RedisLocation
    private let scratch: ScratchFolder

    init() throws {
        let redis = RedisServer.current
        location = RedisLocation(redis.configuration, try Keys(namespace: redis.namespace()))
        client = DarkroomClient(location)
        scratch = try ScratchFolder()
    }

    private func worker(_ change: (inout PhotoWorkerConfiguration) throws -> Void) throws -> PhotoWorker {
        var configuration = PhotoWorkerConfiguration()
        configuration.downloadRules.folders = [TestFiles.samples, scratch.path]
        try change(&configuration)
        return try PhotoWorker(location, configuration)
    }

    private func form(_ photos: [(name: String, url: String)], _ renditions: [PhotoRendition]) -> Submission {
        var form = Submission(PhotoList(photos))
        form.output = scratch.path("out")
        form.renditions = renditions
        form.fileName = "{index}"
        return form
    }

    private func pixels(of path: String) throws -> PhotoPixels {
        let bytes = try #require(FileManager.default.contents(atPath: path), "\(path) is missing")
        return try DownloadedPhoto(record: PhotoRecord(index: 0, name: "", url: ""), bytes: Array(bytes)).pixels()
    }

    /// RGB, grey, and 16 bits with alpha; at the beginning and in the middle of a chain.
    @Test func operationAndFilterMakeTheSamePixels() async throws {
        let wide = PhotoPixels(
            width: 40, height: 30, channels: 4, white: .max, samples: (0..<4800).map { UInt16($0 * 13) })
        try scratch.write("wide.png", wide.png())
        let paths = ["\(TestFiles.samples)/china.jpg", "\(TestFiles.samples)/moon.png", scratch.path("wide.png")]
        let png = PhotoEncoding("format=png")
        let batch = try await client.submit(
            form(
                paths.map { (name: "photo", url: "file://\($0)") },
                [
                    PhotoRendition("first", filters: [.custom("invert")], encoding: png),
                    PhotoRendition("firstFilter", filters: [PhotoFilter("invert")], encoding: png),
                    PhotoRendition(
                        "middle", filters: [PhotoFilter("rotate=90"), .custom("invert"), PhotoFilter("flop")],
                        encoding: png
                    ),
                    PhotoRendition(
                        "middleFilter",
                        filters: [PhotoFilter("rotate=90"), PhotoFilter("invert"), PhotoFilter("flop")],
                        encoding: png),
                ]))
        let worker = try worker { try $0.register("invert") { Invert() } }
        let facts = try await worker.run { try await client.wait(for: batch.id) }
        #expect(facts.counts.filtered == 3, "\(facts.failures)")
        let started = try #require(facts.startedAt)
        let finished = try #require(facts.finishedAt)
        #expect(facts.submittedAt <= started && started <= finished)
        let kinds: [(channels: Int, white: UInt16)] = [(3, 255), (1, 255), (4, .max)]
        for (index, kind) in kinds.enumerated() {
            for place in ["first", "middle"] {
                let own = try pixels(of: scratch.path("out/\(place)/00000\(index).png"))
                let filtered = try pixels(of: scratch.path("out/\(place)Filter/00000\(index).png"))
                #expect(own.channels == kind.channels && own.white == kind.white)
                #expect(own == filtered, "photo \(index), \(place)")
            }
        }
    }

    @Test func largestPhotoIsThatOfTheWorker() async throws {
        let batch = try await client.submit(
            form(
                [(name: "photo", url: "file://\(TestFiles.samples)/moon.png")],
                [PhotoRendition("own", filters: [.custom("invert")])]))
        let worker = try worker {
            $0.maxPixels = 512 * 512 - 1
            try $0.register("invert") { Invert() }
        }
        let facts = try await worker.run { try await client.wait(for: batch.id) }
        let failures = try await client.failures(of: batch.id)
        #expect(facts.failures == [.filterFailed: 1] && failures.first?.detail?.contains("pixels") == true)
    }

    @Test func cancelledPhotoIsNotDecoded() async throws {
        let (began, ended, problem) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Locked(""))
        let batch = try await client.submit(
            form(
                [(name: "photo", url: "file://\(TestFiles.samples)/moon.png")],
                [PhotoRendition("own", filters: [.custom("late")])]))
        let worker = try worker { try $0.register("late") { Late(began: began, ended: ended, problem: problem) } }
        let facts = try await worker.run {
            await wait(for: began)
            _ = try await client.cancel(batch.id)
            let facts = try await client.wait(for: batch.id)
            // The worker does not wait for an operation of a cancelled photo.
            await wait(for: ended)
            return facts
        }
        #expect(facts.counts.cancelled == 1 && problem.withLock { $0 }.contains("cancelled"))
    }

    /// Waits without blocking the thread of the test.
    private func wait(for semaphore: DispatchSemaphore) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                semaphore.wait()
                continuation.resume()
            }
        }
    }
}
