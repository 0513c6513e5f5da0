import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// Many clients of a `darkroom serve` process, and its memory.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct ServeLoadTests {
    /// Raises the number of files that this process may open; false if the system does not allow this number.
    private func canOpen(_ files: Int) -> Bool {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_max >= files else {
            print("this test needs \(files) open files; the system allows \(limit.rlim_max) (ulimit -Hn)")
            return false
        }
        limit.rlim_cur = max(limit.rlim_cur, rlim_t(files))
        return setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    }

    /// A third of the connections is silent, a third has sent a part of a head, a third a part of a body.
    @Test func tenThousandIdleConnectionsDoNotStopOthers() throws {
        guard canOpen(12_000) else { return }
        let server = try ServingProgram(Queue())
        let login = "Authorization: Bearer \(ServingProgram.token)\r\n"
        let beginnings = [
            "", "GET /api/v1/status HTTP/1.1\r\nHost: ",
            "PUT /api/v1/limits HTTP/1.1\r\nHost: a\r\n\(login)Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{",
        ]
        var idle: [RawClient] = []
        var slowest = Duration.zero
        for number in 0..<10_000 {
            let client = try RawClient(port: server.port)
            client.send(beginnings[number % 3])
            idle.append(client)
            guard number % 1000 == 999 else { continue }
            let began = ContinuousClock.now
            #expect(try server.call("GET", "/status").status == 200, "with \(number + 1) connections")
            slowest = max(slowest, .now - began)
        }
        print("10,000 idle connections: the slowest of 10 requests took \(slowest)")
        // A starving request would take 20 s, the patience of the server.
        #expect(slowest < .seconds(10))
        #expect(try server.mostMemory() < 400 << 20)
        withExtendedLifetime(idle) {}
    }

    /// Clients that open the events of a batch and never read.
    @Test func viewersThatDoNotReadNeedLittleMemory() throws {
        guard canOpen(4000) else { return }
        let queue = try Queue()
        let server = try ServingProgram(queue)
        let id = try queue.submit((0..<5000).map { "http://photos.example/\($0)" }) { $0.operationSize = 100 }
        let before = try server.mostMemory()
        let viewers = try (0..<2000).map { number in
            let viewer = try RawClient(port: server.port, receiveBuffer: 2048)
            viewer.send(
                "GET /api/v1/batches/\(id)/events?first=\(number)&count=3000 HTTP/1.1\r\nHost: a\r\n"
                    + "Authorization: Bearer \(ServingProgram.token)\r\n\r\n")
            return viewer
        }
        for viewer in viewers { #expect(viewer.read(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200")) }
        let another = try server.call("GET", "/batches/\(id)/events")
        #expect(another.status == 503)
        try queue.develop("FFFd")
        #expect(try server.call("GET", "/batches/\(id)").status == 200)
        let used = try server.mostMemory() - before
        print("2,000 viewers that do not read: \(used >> 20) MiB")
        #expect(used < 200 << 20)
        withExtendedLifetime(viewers) {}
    }

    /// Requests for many large photos at once use the memory of a few.
    @Test func manyThumbnailsAtOnceNeedTheMemoryOfAFew() throws {
        let server = try ServingProgram(Queue())
        // A photo of 10 MB. Each copy has another version, so each thumbnail is made.
        let photo = try largePhoto()
        let id = try server.show(Array(repeating: photo, count: 24))
        for reply in try server.thumbnails(24, of: id) {
            #expect(reply.status == 200, "\(reply.text.prefix(200))")
        }
        let used = try server.mostMemory()
        print("24 thumbnails of photos of \(photo.count >> 20) MiB at once: \(used >> 20) MiB")
        #expect(used < 160 << 20)
    }

    /// A photo, and bytes after its end.
    private func largePhoto() throws -> Data {
        Data(try TestFiles.sample("hubble_deep_field.jpg")) + Data(count: 10 << 20)
    }

    // MARK: - A full disk

    /// The disk of the server's folder is full: lists are refused, and thumbnails are made but not kept.
    @Test(.enabled(if: MountNamespace.isAvailable, "needs root or user namespaces for a small file system"))
    func fullDiskOfTheServerIsReported() throws {
        let queue = try Queue()
        let mounts = try MountNamespace("mkdir cache && mount -t tmpfs -o size=256k,mode=700 none cache")
        defer { mounts.stop() }
        let server = try ServingProgram(queue, cache: mounts.folder + "/cache", in: mounts)
        let list = Array(String(repeating: "http://photos.example/photo.jpg\n", count: 100_000).utf8)
        for type in ["text/csv", "multipart/form-data; boundary=b"] {
            let reply = try server.call("POST", "/batches?output=a", headers: ["Content-Type": type], body: list)
            #expect(reply.status == 507, "\(type): \(reply.text)")
            #expect(reply.text.contains("No space left on device"))
        }
        // The copy of the list in a form does not fit beside the form.
        let part = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"l\"\r\n\r\n"
        let form = Array(part.utf8) + list.prefix(160 << 10) + Array("\r\n--b--\r\n".utf8)
        let reply = try server.call(
            "POST", "/batches?output=a", headers: ["Content-Type": "multipart/form-data; boundary=b"], body: form)
        #expect(reply.status == 507, "\(reply.text)")
        // An upload is removed after its response; no other process learns when.
        func uploads() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: mounts.path(mounts.folder + "/cache"))
                .filter { $0.hasPrefix("upload") }
        }
        try waitUntil("the uploads are removed") { try uploads().isEmpty }
        let small = try server.call(
            "POST", "/batches?output=a", headers: ["Content-Type": "text/csv"], body: Array(list.prefix(3200)))
        #expect(small.status == 201, "\(small.text)")
    }
}
