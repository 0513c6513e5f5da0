import DarkroomRecipes
import DarkroomCoding
import DarkroomConcurrency
import DarkroomModel
import DarkroomOrigins
import DarkroomPhotoServer
import DarkroomStore
import DarkroomTestSupport
import DarkroomTransfer
import Foundation
import Testing

@testable import DarkroomStorage
@testable import DarkroomWorker
@testable import DarkroomWorkerState

@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct OriginalsTests {
    let darkroom: Darkroom
    let photos: PhotoServer
    let originals: String

    init() throws {
        darkroom = try Darkroom(.current)
        photos = try PhotoServer(folder: TestFiles.samples)
        originals = darkroom.redis.folder + "/originals-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: originals, withIntermediateDirectories: true)
    }

    private var urls: [String] { ["astronaut.jpg", "moon.png"].map { photos.url($0) } }

    private func options(_ change: (inout BatchOptions) -> Void = { _ in }) -> BatchOptions {
        darkroom.options {
            $0.originals = originals
            change(&$0)
        }
    }

    private func run(
        _ urls: [String], _ options: BatchOptions, _ change: (inout WorkerSetup) throws -> Void = { _ in }
    ) throws -> BatchFacts {
        let id = try darkroom.submit(urls, options)
        let facts = try darkroom.withWorker(change) { _ in try darkroom.wait(id) }
        try darkroom.check(id)
        return facts
    }

    /// The files in the folder of originals and its subfolders, without the `.way` files.
    private func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: originals)
            .filter { $0.count > 2 && !$0.hasSuffix(".way") }.sorted()
    }

    /// Writes a file of the folder of originals.
    private func keep(_ bytes: [UInt8], of url: String) throws {
        let file = URL(fileURLWithPath: "\(originals)/\(OriginalsFolder.file(of: url))")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }

    @Test func keepsDownloadedBytes() throws {
        let facts = try run(urls, options())
        #expect(facts.counts.filtered == 2 && facts.bytesIn > 0)
        #expect(try files() == urls.map(OriginalsFolder.file).sorted())
        for (url, name) in zip(urls, ["astronaut.jpg", "moon.png"]) {
            #expect(
                FileManager.default.contents(atPath: "\(originals)/\(OriginalsFolder.file(of: url))")
                    == FileManager.default.contents(atPath: "\(TestFiles.samples)/\(name)"))
        }
    }

    @Test func doesNotUseAnOriginalWhoseURLTheWorkerMayNotFetch() throws {
        #expect(try run(urls, options()).counts.filtered == 2)
        let noPrivate = try run(urls, options()) { $0.downloadRules.allowsPrivateAddresses = false }
        #expect(noPrivate.failures == [.addressDenied: 2])
        let noHost = try run(urls, options()) { $0.downloadRules.deniedHosts = ["127.0.0.1"] }
        #expect(noHost.failures == [.addressDenied: 2])
        let allowed = try run(urls, options()) {
            $0.downloadRules.allowsPrivateAddresses = false
            $0.downloadRules.allowedNetworks = ["127.0.0.0/8"]
        }
        #expect(allowed.counts.filtered == 2 && allowed.bytesIn == 0)
    }

    @Test func doesNotUseAnOriginalDownloadedFromAHostTheWorkerMayNotFetch() throws {
        // The rules must also reject the private address of a host, and the host to which a redirect leads.
        let url = "http://photos.example/moon.png", redirecting = "http://elsewhere.example/a"
        let server = try HostileServer(["/a": .redirect(to: url)])
        defer { server.stop() }
        let ports = [
            "photos.example:80:127.0.0.1:\(photos.port)", "elsewhere.example:80:127.0.0.1:\(server.port)",
        ]
        #expect(try run([url, redirecting], options()) { $0.downloadRules.connectTo = ports }.counts.filtered == 2)
        let noPrivate = try run([url], options()) {
            $0.downloadRules.connectTo = ports
            $0.downloadRules.allowsPrivateAddresses = false
        }
        #expect(noPrivate.failures == [.addressDenied: 1])
        let noHost = try run([redirecting], options()) {
            $0.downloadRules.connectTo = ports
            $0.downloadRules.deniedHosts = ["photos.example"]
        }
        #expect(noHost.failures == [.addressDenied: 1])
        let again = try run([url, redirecting], options()) { $0.downloadRules.connectTo = ports }
        #expect(again.counts.filtered == 2 && again.bytesIn == 0)
    }

    /// The rules reject the URL even if the redirects of its download were not recorded.
    @Test func doesNotUseAnOriginalOfARejectedURLWithoutRecordedRedirects() throws {
        let bytes = try TestFiles.sample("moon.png")
        let named = "http://photos.example/moon.png"
        for url in [named, urls[1]] { try keep(bytes, of: url) }
        #expect(try run([named], options()) { $0.downloadRules.allowsPrivateAddresses = false }.counts.filtered == 1)
        let noHost = try run([named], options()) { $0.downloadRules.deniedHosts = ["*.example"] }
        #expect(noHost.failures == [.addressDenied: 1])
        let noPrivate = try run([urls[1]], options()) { $0.downloadRules.allowsPrivateAddresses = false }
        #expect(noPrivate.failures == [.addressDenied: 1])
        #expect(photos.requests.isEmpty)
    }

    @Test func readsFileURLsOnlyIfAllowedAndKeepsNoCopy() throws {
        let url = "file://\(TestFiles.samples)/moon.png"
        #expect(try run([url], options()) { $0.downloadRules.folders = [TestFiles.samples] }.counts.filtered == 1)
        #expect(try files().isEmpty)
        #expect(try run([url], options()).failures == [.fileDenied: 1])
    }

    @Test func reusesOriginalsOfAnotherBatch() throws {
        _ = try run(urls, options())
        let requests = photos.requests
        let facts = try run(urls, options { $0.filters = [PhotoFilter("tilt-shift=radius:3")] })
        #expect(facts.counts.filtered == 2)
        #expect(facts.bytesIn == 0, "originals that were read count as downloaded")
        #expect(photos.requests == requests, "the photos were downloaded again")
    }

    @Test func downloadsAgainIfTheOriginalOfADownloadedPhotoIsMissing() throws {
        _ = try run(urls, options())
        unlink("\(originals)/\(OriginalsFolder.file(of: urls[0]))")
        let facts = try run(urls, options())
        #expect(facts.counts.filtered == 2)
        #expect(try files().count == 2)
        #expect(photos.requests["/astronaut.jpg"] == 2 && photos.requests["/moon.png"] == 1)
    }

    /// A server that has sent an error page or half of a photo once.
    @Test(arguments: [Array("<html>not found</html>".utf8), nil])
    func bytesThatAreNoPhotoAreNotKept(page: [UInt8]?) throws {
        let photo = try TestFiles.sample("astronaut.jpg")
        let bad = page ?? Array(photo[..<(photo.count / 2)])
        let server = try HostileServer(["/a.jpg": .inTurn([.answer(body: bad), .answer(body: photo)])])
        defer { server.stop() }
        let first = try run([server.url("/a.jpg")], options { $0.filters = [.sepia()] })
        #expect(first.failures == [page == nil ? .damaged : .notAnImage: 1])
        #expect(try files().isEmpty)
        let second = try run([server.url("/a.jpg")], options { $0.filters = [.sepia()] })
        #expect(second.counts.filtered == 1 && server.log.requests == ["/a.jpg": 2])
        #expect(try files().count == 1)
    }

    @Test(arguments: [true, false]) func keptBytesThatAreNoPhotoAreDownloadedOnceMore(isMended: Bool) throws {
        let photo = try TestFiles.sample("astronaut.jpg")
        let page = Array("<html>not found</html>".utf8)
        let server = try HostileServer(["/a.jpg": .answer(body: isMended ? photo : page)])
        defer { server.stop() }
        try keep(page, of: server.url("/a.jpg"))
        let facts = try run([server.url("/a.jpg")], options { $0.filters = [.sepia()] })
        #expect(facts.counts.filtered == (isMended ? 1 : 0) && facts.counts.failed == (isMended ? 0 : 1))
        #expect(server.log.requests == ["/a.jpg": 1])
        #expect(try files().count == (isMended ? 1 : 0))
    }

    /// Another batch may have developed these bytes with other options, and its manifest names them.
    @Test(arguments: [nil, "<html>not found</html>"])
    func keptBytesThatAreNoPhotoStayUntilTheServerSendsBetterOnes(page: String?) throws {
        let photo = try TestFiles.sample("astronaut.jpg")
        let answers = [photo[..<(photo.count / 2)]] + (page.map { [Array($0.utf8)[...]] } ?? [])
        let server = try HostileServer(["/a.jpg": .inTurn(answers.map { .answer(body: Array($0)) })])
        let url = server.url("/a.jpg")
        let accepted = try run([url], options { $0.damagedPhotos = .accept })
        #expect(accepted.counts.filtered == 1)
        let before = try files()
        if page == nil { server.stop() }
        let id = try darkroom.submit([url], options { $0.filters = [.sepia()] })
        let failed = try darkroom.withWorker { _ in try darkroom.wait(id) }
        #expect(failed.failures == [.damaged: 1])
        #expect(try files() == before && before.count == 1)
        let line = try #require(try darkroom.manifest(of: id)[0])
        #expect(line.original == OriginalsFolder.file(of: url))
        #expect(
            line.detail?.contains("downloaded again: \(page == nil ? "connect-failed" : "not-an-image")")
                == true, "\(line)")
        // The accepting batch can still use them.
        #expect(try run([url], options { $0.damagedPhotos = .accept }).counts.filtered == 1)
    }

    /// No batch can have used a page, and a server may send another one each time.
    @Test func keptPageIsRemovedIfAnotherPageComes() throws {
        let server = try HostileServer(["/a.jpg": .answer(body: Array("<html>second page</html>".utf8))])
        defer { server.stop() }
        let page = Array("<html>first page</html>".utf8)
        try keep(page, of: server.url("/a.jpg"))
        #expect(try run([server.url("/a.jpg")], options()).failures == [.notAnImage: 1])
        #expect(try files().isEmpty)
    }

    /// The photo that the server sends can be decoded, but not developed.
    @Test func keptBytesStayIfTheNewPhotoIsTooLarge() throws {
        let photo = try TestFiles.sample("astronaut.jpg")
        let server = try HostileServer(["/a.jpg": .answer(body: photo)])
        defer { server.stop() }
        let page = Array("<html>first page</html>".utf8)
        try keep(page, of: server.url("/a.jpg"))
        #expect(try run([server.url("/a.jpg")], options()) { $0.maxPixels = 100 }.failures == [.tooManyPixels: 1])
        #expect(try files().count == 1)
    }

    @Test func keepsDownloadedPhotosAfterTheWorkerStops() throws {
        let store = darkroom.store
        let id = try darkroom.submit(urls, options())
        #expect(try store.perform(store.suspend(id, .filtrations, true)) == .done(isNew: true))
        try darkroom.withWorker { _ in
            try darkroom.wait(id, "downloaded") { $0.counts.downloaded == 2 }
            #expect(try files().count == 2, "a photo counts as downloaded before its file exists")
        }
        #expect(try #require(try store.facts(of: id)).counts.downloaded == 2)
        photos.stop()  // every download fails from here on
        #expect(try store.perform(store.suspend(id, .filtrations, false)) == .done(isNew: true))
        let facts = try darkroom.withWorker { _ in try darkroom.wait(id) }
        #expect(facts.counts.filtered == 2 && facts.bytesIn == 0)
        try darkroom.check(id)
    }

    @Test func leavesNoFileOfACancelledPhoto() async throws {
        let server = try HostileServer(["/slow": .stallHalfWay(body: [1], declared: 10)])
        defer { server.stop() }
        let store = darkroom.store
        let id = try darkroom.submit([server.url("/slow")], options())
        try await darkroom.withWorker { _ in
            #expect(await server.wait { $0.running == 1 })
            _ = try store.perform(store.cancel(id))
            try darkroom.wait(id)
            #expect(await server.wait { $0.departures["/slow"] == 1 }, "the transfer was not aborted")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: originals).isEmpty)
    }

    @Test func leavesNoFileOfAFailedDownload() throws {
        let server = try HostileServer(["/half.jpg": .closeHalfWay(body: [1, 2, 3], declared: 100)])
        defer { server.stop() }
        let facts = try run([server.url("/half.jpg"), photos.url("none.jpg"), "NO URL"], options())
        #expect(facts.failures == [.truncated: 1, .httpClientError: 1, .notAURL: 1])
        #expect(try FileManager.default.contentsOfDirectory(atPath: originals).isEmpty)
    }

    @Test func appliesSizeLimitsToReadOriginals() throws {
        _ = try run(urls, options())
        let size = try TestFiles.sample("moon.png").count
        let tooLarge = try run([urls[1]], options()) { $0.downloadRules.maxBytes = size - 1 }
        #expect(tooLarge.failures == [.tooLarge: 1])
        let tooManyPixels = try run([urls[1]], options()) { $0.maxPixels = 100 }
        #expect(tooManyPixels.failures == [.tooManyPixels: 1])
        #expect(try run([urls[1]], options()) { $0.downloadRules.maxBytes = size }.counts.filtered == 1)
    }

    @Test func failsAPhotoWhoseOriginalCannotBeWritten() throws {
        // The file occupies the name of the folder in which the original would be stored.
        let folder = "\(originals)/\(OriginalsFolder.file(of: urls[0]).prefix(2))"
        #expect(FileManager.default.createFile(atPath: folder, contents: nil))
        let facts = try run([urls[0]], options())
        #expect(facts.failures == [.outputDenied: 1])
    }

    @Test func leavesABatchWhoseFolderOfOriginalsIsMissing() throws {
        let id = try darkroom.submit([urls[0]], options { $0.originals = originals + "/missing" })
        try darkroom.withWorker { _ in darkroom.waitForLog("its folder of originals is not seen here") }
        #expect(try darkroom.store.facts(of: id)?.counts.new == 1)
    }

    @Test func leavesABatchWithOriginalsOutsideItsFolders() throws {
        let folders = [darkroom.folder, darkroom.redis.folder]
        for path in ["/etc", originals + "/../../etc", "originals"] {
            let id = try darkroom.submit([urls[0]], options { $0.originals = path })
            try darkroom.withWorker {
                $0.outputFolders = folders
            } run: { _ in
                darkroom.waitForLog("its folder of originals \(path) is not in a folder to which this worker may write")
            }
            #expect(try darkroom.store.facts(of: id)?.counts.new == 1)
            _ = try darkroom.store.perform(darkroom.store.forget(id, unfinished: true))
        }
        #expect(try run(urls, options()) { $0.outputFolders = folders }.counts.filtered == 2)
    }

    @Test func createsARemoteFolderBelowTheFoldersOfTheWorker() throws {
        let facts = try run(
            urls,
            options {
                $0.originals = originals + "/new/one"
                $0.remoteOutput = true
            }
        ) { $0.outputFolders = [darkroom.folder, originals + "/"] }
        #expect(facts.counts.filtered == 2)
    }

    @Test func removesPartialFilesOfACrashedWorker() throws {
        let id = try darkroom.submit([urls[0]], options())
        _ = try darkroom.store.connection.call(.init("HSET", darkroom.keys.leaseExpiries(id), "1", "1"))
        let parent = "\(originals)/\(OriginalsFolder.file(of: urls[0]).prefix(2))"
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        let left = ".\(id)-0.5.crashed-1-a-7"
        let others = [".\(id)-1.5.crashed-1-a-7", ".20261121-090501123-7f3a-0.5.other-1-a-7"]
        for name in [left] + others {
            #expect(FileManager.default.createFile(atPath: "\(parent)/\(name)", contents: nil))
        }
        try darkroom.withWorker { _ in try darkroom.wait(id) }
        #expect(!FileManager.default.fileExists(atPath: "\(parent)/\(left)"))
        for name in others { #expect(FileManager.default.fileExists(atPath: "\(parent)/\(name)")) }
    }

}
