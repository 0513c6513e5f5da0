import Darkroom
import DarkroomConcurrency
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWeb

/// Which files the server sends, if other users write to the output folders and to Redis.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct SentFileTests {
    private static let photo = TestFiles.samples + "/flower.jpg"
    private let site: TestSite
    private let folder: String

    init() throws {
        site = try TestSite()
        folder = site.outputs + "/batch"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: Self.photo, toPath: site.outputs + "/../secret.jpg")
        try FileManager.default.copyItem(atPath: Self.photo, toPath: folder + "/good.jpg")
    }

    /// A batch whose manifest has these files.
    private func batch(_ files: [String], output: String? = nil, manifest: [UInt8]? = nil) throws -> String {
        let id = try site.submit(photos: files.count) { $0.output = output ?? folder }
        try site.report(id, files: files, manifest: manifest)
        return "\(id)"
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: folder + "/" + name, withDestinationPath: target)
    }

    @Test func filesOutsideOfTheFolderAreNotSent() throws {
        try link("link.jpg", to: "../../secret.jpg")
        try link("inner.jpg", to: "good.jpg")
        try link("above", to: "../..")
        try link("here", to: ".")
        try link("zero", to: "/dev/zero")
        #expect(mkfifo(folder + "/fifo", 0o600) == 0)
        // A device needs rights that a user may lack; its name then does not exist.
        _ = mknod(folder + "/device", S_IFCHR | 0o600, 0x105)
        let files = [
            "good.jpg", "../../secret.jpg", "\(site.outputs)/../secret.jpg", "/etc/passwd", "link.jpg", "inner.jpg",
            "above/secret.jpg",
            "here/good.jpg", "zero", "fifo", "device", ".", "", "..", "manifest", "good.jpg/x",
            "./../batch/../../secret.jpg",
            "good.jpg\u{0}/../../../secret.jpg", String(repeating: "a/", count: 5000), "/proc/self/environ",
            "//etc/passwd",
        ]
        let id = try batch(files)
        #expect(try site.call("GET", "/batches/\(id)/photos/0/file").status == 200)
        for index in files.indices.dropFirst() {
            for kind in ["file", "thumbnail"] {
                let reply = try site.call("GET", "/batches/\(id)/photos/\(index)/\(kind)")
                #expect(reply.status == 404, "\(files[index].prefix(60)): \(reply.status)")
            }
        }
    }

    @Test func foldersOutsideAreNotShown() throws {
        let elsewhere = try ScratchFolder()
        try FileManager.default.copyItem(atPath: Self.photo, toPath: elsewhere.path + "/good.jpg")
        try FileManager.default.createSymbolicLink(
            atPath: site.outputs + "/linked", withDestinationPath: elsewhere.path)
        try FileManager.default.createDirectory(atPath: site.outputs + "-other", withIntermediateDirectories: true)
        for output in [
            elsewhere.path, site.outputs + "/linked", site.outputs + "-other", site.outputs + "/../" + "outputs/batch",
            site.outputs + "/batch/../../other",
        ] {
            let id = try batch(["good.jpg"], output: output)
            let reply = try site.call("GET", "/batches/\(id)/photos/0/file")
            #expect(reply.status == 404, "\(output): \(reply.text.prefix(100))")
            #expect(try site.json("GET", "/batches/\(id)/photos/0")["manifest"] == .null, "\(output)")
            #expect(try site.json("GET", "/batches/\(id)/photos")["photos"]?.array?.count == 1)
        }
    }

    /// Another user exchanges a folder for a link again and again.
    @Test func exchangedFolderIsNeverFollowed() throws {
        let elsewhere = try ScratchFolder()
        try elsewhere.write("good.jpg", "secret")
        let id = try batch(["part/good.jpg"])
        let part = folder + "/part"
        try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: Self.photo, toPath: part + "/good.jpg")
        try link("trap", to: elsewhere.path)
        let isDone = Locked(false)
        let exchanging = OwnedThread("exchange") { [folder] in
            while !isDone.withLock({ $0 }) {
                for (from, to) in [("part", "kept"), ("trap", "part"), ("part", "trap"), ("kept", "part")] {
                    rename(folder + "/" + from, folder + "/" + to)
                    usleep(20)  // leaves time to the server on a machine with few processors
                }
            }
        }
        var statuses: [Int: Int] = [:]
        for _ in 0..<60 {
            let reply = try site.fetch(
                "GET", "/api/v1/batches/\(id)/photos/0/file", headers: ["Authorization": "Bearer \(TestSite.token)"])
            #expect(!reply.text.contains("secret"))
            statuses[reply.status, default: 0] += 1
        }
        isDone.withLock { $0 = true }
        exchanging.join()
        #expect(Set(statuses.keys).isSubset(of: [200, 404]), "\(statuses)")
    }

    @Test func namesOfFilesAreSafeInHeaders() throws {
        let names = [
            "a\r\nX-Forged: 1.jpg", "\"; filename=evil.exe; .jpg", "<script>.jpg", "é😀.jpg", "a;b,c=d.jpg",
            "%0d%0aX-Forged: 1",
        ]
        for name in names { try FileManager.default.copyItem(atPath: Self.photo, toPath: folder + "/" + name) }
        let id = try batch(names)
        for index in names.indices {
            let reply = try site.call("GET", "/batches/\(id)/photos/\(index)/file")
            #expect(reply.status == 200)
            #expect(reply.headers["x-forged"] == nil)
            let field = try #require(reply.headers["content-disposition"])
            #expect(field.wholeMatch(of: #/inline; filename\*=UTF-8''[A-Za-z0-9._~%-]+/#) != nil, "\(field)")
            #expect(reply.headers["content-security-policy"]?.contains("sandbox") == true)
        }
    }

    @Test func fileThatIsNoPictureIsNotShownByBrowsers() throws {
        for (name, text) in [
            ("page.jpg", "<html><script>alert(1)</script>"), ("drawing.svg", "<svg onload='alert(1)'/>"),
            ("empty.jpg", ""),
        ] {
            try text.write(toFile: folder + "/" + name, atomically: false, encoding: .utf8)
        }
        let id = try batch(["page.jpg", "drawing.svg", "empty.jpg"])
        for index in 0..<3 {
            let reply = try site.call("GET", "/batches/\(id)/photos/\(index)/file")
            #expect(reply.headers["content-type"] == "application/octet-stream")
            #expect(reply.headers["content-disposition"]?.hasPrefix("attachment;") == true)
            #expect(reply.headers["x-content-type-options"] == "nosniff")
        }
    }

    /// Ten clients read a file of 8 GiB slowly, and others are answered.
    @Test func hugeFilesNeedNoMemory() throws {
        let file = open(folder + "/huge.jpg", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        #expect(ftruncate(file, 8 << 30) == 0)
        close(file)
        let id = try batch(["huge.jpg"])
        let slow = try (0..<10).map { _ in try RawClient(port: site.port, receiveBuffer: 4096) }
        for client in slow {
            client.send(
                "GET /api/v1/batches/\(id)/photos/0/file HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(TestSite.token)\r\n\r\n"
            )
            #expect(client.read(until: "\r\n\r\n").contains("Content-Length: 8589934592\r\n"))
        }
        #expect(try site.call("GET", "/batches/\(id)").status == 200)
        let reply = try site.call("GET", "/batches/\(id)/photos/0/thumbnail")
        #expect(reply.status == 422)
        #expect(reply.text.contains("268 MB"))
    }

    @Test func plantedManifestsAreRefused() throws {
        let id = try batch(["good.jpg"])
        let part = try #require(
            FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }.first { $0.hasSuffix("jsonl") }
        )
        let path = folder + "/" + part
        let good = try #require(FileManager.default.contents(atPath: path))
        func replies(_ status: Int) throws {
            // The server keeps the lines of an operation for two seconds.
            let site = try site.restarted()
            #expect(try site.call("GET", "/batches/\(id)/photos").status == 200)
            #expect(try site.call("GET", "/batches/\(id)/photos/0/file").status == status)
        }
        try replies(200)
        for text in ["{\"batch\": 1}\n", "[[[[", String(repeating: "[", count: 1_000_000), "\u{0}", "{}\n{}\n"] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            try replies(404)
        }
        // 17 MiB, of which the first line is correct.
        try (good + Data(repeating: 10, count: 17 << 20)).write(to: URL(fileURLWithPath: path))
        try replies(404)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/zero")
        try replies(404)
        try FileManager.default.removeItem(atPath: path)
        #expect(mkfifo(path, 0o600) == 0)
        try replies(404)
    }
}
