import DarkroomConcurrency
import DarkroomPhotoServer
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomTransfer

@Suite(.timeLimit(.minutes(5))) final class PhotoServerTests {
    private let scratch: ScratchFolder
    private var folder: URL { scratch.url }

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeFolder("more photos")
        for index in 0..<20 {
            try Data(content(index)).write(to: folder.appendingPathComponent("\(index).jpg"))
        }
        try Data("png".utf8).write(to: folder.appendingPathComponent("more photos/\u{e9}.PNG"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.appendingPathComponent("passwd.jpg").path, withDestinationPath: "/etc/passwd")
    }

    private func content(_ index: Int) -> [UInt8] {
        (0..<(index * 3000)).map { UInt8(truncatingIfNeeded: $0 &* index) }
    }

    @Test func servesOnlyTheFilesOfTheFolder() async throws {
        let server = try PhotoServer(folder: folder.path)
        let engine = TransferEngine(.local())
        let photo = try await engine.fetch(server.url("more photos/\u{e9}.PNG")).get()
        #expect(photo.body == Array("png".utf8))
        #expect(try await engine.fetch(server.url("/3.jpg")).get().body == content(3))
        for path in [
            "/", "/passwd.jpg", "/missing.jpg", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/more%20photos",
        ] {
            #expect(await engine.fetch("http://127.0.0.1:\(server.port)\(path)").error?.code == .httpClientError(404))
        }
        #expect(server.requests["/3.jpg"] == 1)
        #expect(server.requests["/missing.jpg"] == 1)
        #expect(server.paths.count == 21)
        server.stop()
        server.stop()
        #expect(await engine.fetch(server.url("/3.jpg")).error?.code == .connectFailed)
    }

    @Test func servesSeveralRequestsOnOneConnection() throws {
        let server = try PhotoServer(folder: folder.path)
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(connection) }
        var timeout = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = server.port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        let request = "GET /0.jpg HTTP/1.1\r\nHost: a\r\n"
        let requests = Array("\(request)\r\n\(request)Connection: close\r\n\r\n".utf8)
        #expect(send(connection, requests, requests.count, 0) == requests.count)
        var replies: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(connection, &block, block.count, 0), count > 0 { replies += block[..<count] }
        #expect(String(decoding: replies, as: UTF8.self).components(separatedBy: "HTTP/1.1 200 OK").count == 3)
    }

    @Test func errorSaysWhyTheServerCannotStart() throws {
        #expect(throws: PhotoServerError.self) { try PhotoServer(folder: folder.path + "/missing") }
        let server = try PhotoServer(folder: folder.path)
        let error = expectError(PhotoServerError.self) { try PhotoServer(folder: folder.path, port: server.port) }
        #expect(error?.message.contains("\(server.port)") == true)
    }

    @Test func serves2000SimultaneousDownloads() async throws {
        raiseDescriptorLimit()
        let server = try PhotoServer(folder: folder.path)
        let engine = TransferEngine(.local { $0.perHost = nil })
        let expected = (0..<20).map(content)
        let results = Collected<Bool>()
        for number in 0..<2000 {
            engine.start(server.url("\(number % 20).jpg")) { results.add($0.body == expected[number % 20]) }
        }
        #expect(await results.wait(for: 2000).allSatisfy { $0 })
        #expect(server.requests.values.reduce(0, +) == 2000)
        #expect(server.requests["/7.jpg"] == 100)
    }

    /// This process has both ends of 2,000 connections.
    private func raiseDescriptorLimit() {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = min(limit.rlim_max, max(limit.rlim_cur, 8192))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
