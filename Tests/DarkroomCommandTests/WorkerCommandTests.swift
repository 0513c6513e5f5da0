import Darkroom
import DarkroomPhotoServer
import DarkroomTestSupport
import Foundation
import Testing

/// `worker` and `workers`: real photos over HTTP, signals, folders.
@Suite(.redisServer, .serialized)
struct WorkerCommandTests {

    @Test func warnsOfUnrestrictedOutputs() throws {
        let worker = try Queue().start("worker")
        try worker.waitFor("this worker may write to every folder, limit it with --outputs-under FOLDER")
        try worker.waitFor("worker started worker=")
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
    }

    @Test func developsQueuedPhotosUntilItIsStopped() throws {
        let queue = try Queue()
        let server = try PhotoServer(folder: TestFiles.samples)
        defer { server.stop() }
        let missing = server.url("none.jpg")
        let id = try queue.submit([server.url("astronaut.jpg"), "NO URL", server.url("moon.png"), missing])
        let worker = try queue.start("worker", "--allow-private", "--outputs-under", queue.folder, "--downloads", "4")
        try worker.waitFor("worker started worker=")
        #expect(try queue.run("wait", "\(id)").status == 3)

        let workers = try #require(try queue.run("workers", "--json").json() as? [[String: Any]])
        #expect(workers.count == 1)
        #expect(workers[0]["pid"] as? Int == Int(worker.identifier) && workers[0]["downloads"] as? Int == 4)
        #expect(workers[0]["living"] as? Bool == true && workers[0]["version"] as? String == darkroomVersion)
        let row = try #require(try queue.run("workers").lines.first)
        #expect(row.contains("\t\(worker.identifier)\t") && row.contains(" of 4\t"))

        worker.send(SIGTERM)
        let outcome = try worker.outcome()
        #expect(outcome.status == 0 && outcome.standardOutput.isEmpty)
        #expect(outcome.standardError.contains(" info worker: worker stopping worker="))
        #expect(outcome.standardError.contains(" held=0 photos=4\n"))
        #expect(outcome.standardError.contains(": worker runs as root, ") == (geteuid() == 0))
        #expect(!outcome.standardError.contains("may write to every folder"))
        #expect(try queue.run("workers").standardOutput.isEmpty)

        let photos = try queue.run("photos", "\(id)").lines.map { $0.components(separatedBy: "\t") }
        #expect(photos.map { $0[1] } == ["filtered", "failed", "filtered", "failed"])
        #expect(photos.map { $0[2] } == ["", "not-a-url", "", "http-4xx"])
        for photo in [photos[0], photos[2]] {
            #expect(FileManager.default.fileExists(atPath: "\(queue.folder)/\(photo[4])"))
        }
        let manifest = try #require(try Program.run("manifest", queue.folder, "--json").json() as? [[String: Any]])
        #expect(manifest.map { $0["state"] as? String } == ["filtered", "failed", "filtered", "failed"])
    }

    @Test func firstSignalStopsInOrderAndTheSecondSignalAtOnce() async throws {
        let queue = try Queue()
        let server = try HostileServer(["/stall.jpg": .stall])
        defer { server.stop() }
        let id = try queue.submit(["http://127.0.0.1:\(server.port)/stall.jpg"])
        let worker = try queue.start("worker", "--allow-private", "--grace", "10m")
        #expect(await server.wait { $0.running == 1 }, "the download has not started")
        worker.send(SIGINT)
        try worker.waitFor("worker stopping")
        #expect(try queue.store.facts(of: id)?.executing == 1, "the worker must wait for the download")
        worker.insist(SIGTERM)
        let outcome = try worker.outcome()
        #expect(outcome.status == 130)
        #expect(outcome.standardError.contains("worker leaving at once"))
        // The worker has not released its operation, so the lease has to expire.
        #expect(try queue.store.facts(of: id)?.executing == 1)
    }

    @Test func twoStopSignalsAtTheSameTimeCountAsOne() async throws {
        let queue = try Queue()
        let server = try HostileServer(["/stall.jpg": .stall])
        defer { server.stop() }
        let id = try queue.submit(["http://127.0.0.1:\(server.port)/stall.jpg"])
        let worker = try queue.start("worker", "--allow-private", "--grace", "500ms")
        #expect(await server.wait { $0.running == 1 }, "the download has not started")
        // A terminal and a parent process may both send a stop signal. The test sends two different signals, since the
        // kernel merges pending signals with the same number.
        worker.send(SIGINT)
        worker.send(SIGTERM)
        let outcome = try worker.outcome()
        #expect(outcome.status == 0 && !outcome.standardError.contains("leaving at once"), "\(outcome)")
        #expect(try queue.store.facts(of: id)?.executing == 0, "the worker must release the operation")
    }

    @Test func missingFoldersAreErrors() throws {
        let queue = try Queue()
        for option in ["--files-under", "--outputs-under"] {
            let outcome = try queue.run("worker", option, queue.folder + "/missing")
            #expect(outcome.status == 1)
            #expect(
                outcome.standardError.contains("error: \(option) \(queue.folder)/missing: no such folder; create it, "),
                "\(outcome.standardError)")
        }
    }

    @Test func releasesExecutingOperationsAfterTheGracePeriod() async throws {
        let queue = try Queue()
        let server = try HostileServer(["/stall.jpg": .stall])
        defer { server.stop() }
        let id = try queue.submit(["http://127.0.0.1:\(server.port)/stall.jpg"])
        let worker = try queue.start("worker", "--allow-private", "--grace", "200ms")
        #expect(await server.wait { $0.running == 1 }, "the download has not started")
        worker.send(SIGTERM)
        #expect(try worker.outcome().status == 0)
        let facts = try #require(try queue.store.facts(of: id))
        #expect(facts.executing == 0 && facts.counts.new == 1 && facts.operationsEnded == 0)
    }

    @Test func batchWithAForbiddenOutputIsLeftToOtherWorkers() throws {
        let queue = try Queue()
        let elsewhere = try Queue()
        let id = try queue.submit(["http://photos.example/0"])
        let worker = try queue.start("worker", "--outputs-under", elsewhere.folder)
        try worker.waitFor("notice worker: batch is left to other workers batch=\(id) worker=")
        let waiting = try queue.start("wait", "\(id)")
        try waiting.waitFor("no running worker takes it: 1 worker refused it: its output \(queue.folder) is not below")
        #expect(try queue.store.facts(of: id)?.executing == 0)
    }

    @Test(arguments: ["a folder", "a list of paths"])
    func folderOfPhotosWaitsForAWorkerThatMayReadIt(kind: String) throws {
        let queue = try Queue()
        let scratch = try ScratchFolder()
        let photos = scratch.path("photos")
        try FileManager.default.createDirectory(atPath: photos, withIntermediateDirectories: true)
        _ = try scratch.write("photos/a.jpg", "no picture")
        let list = kind == "a folder" ? photos : try scratch.write("list.txt", "photos/a.jpg\n")
        let submitted = try queue.run("submit", list, "-o", queue.folder)
        let id = try #require(submitted.lines.first, "\(submitted)")
        let worker = try queue.start("worker")
        let waiting = try queue.start("wait", id)
        try waiting.waitFor("no running worker takes it: 1 worker refused it: its photos lie in")
        try waiting.waitFor("which is not in a folder whose files this worker may read")
        let other = try queue.start("worker", "--files-under", photos)
        let outcome = try waiting.outcome()
        #expect(outcome.status == 3, "the file is read and is not an image: \(outcome)")
        for program in [worker, other] {
            program.send(SIGTERM)
            _ = try program.outcome()
        }
        #expect(try queue.store.facts(of: #require(BatchID(id)))?.failures == [.notAnImage: 1])
    }
}
