import Darkroom
import DarkroomCoding
import DarkroomFiles
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand
@testable import DarkroomWeb

/// Thumbnails of files that other users have written.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5)))
struct HostileThumbnailTests {
    private let site: TestSite
    private let folder: String

    init() throws {
        site = try TestSite()
        folder = site.outputs + "/batch"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    private func sample(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: TestFiles.samples + "/" + name)))
    }

    /// The status and the body of the thumbnails of these files.
    private func thumbnails(_ files: [[UInt8]]) throws -> [HTTPReply] {
        for (index, bytes) in files.enumerated() {
            try Data(bytes).write(to: URL(fileURLWithPath: folder + "/\(index).jpg"))
        }
        let id = try site.submit(photos: files.count) { $0.output = folder }
        try site.report(id, files: files.indices.map { "\($0).jpg" })
        return try files.indices.map { try site.call("GET", "/batches/\(id)/photos/\($0)/thumbnail?width=128") }
    }

    @Test func filesThatAreNoPhotosHaveNoThumbnail() throws {
        let photo = try sample("flower.jpg")
        var large = try sample("moon.png")
        large.replaceSubrange(16..<24, with: [0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60])
        let replies = try thumbnails([
            [], Array("<svg xmlns='http://www.w3.org/2000/svg' width='100000' height='100000'/>".utf8), large,
            Array(photo.prefix(200)), [UInt8](repeating: 0xff, count: 100_000), Array("%PDF-1.4".utf8),
            Array("GIF89a".utf8),
            Array(photo.prefix(20)) + [UInt8](repeating: 0, count: 1000), Array("#!/bin/sh\nid\n".utf8),
        ])
        for (index, reply) in replies.enumerated() {
            #expect(reply.status == 422, "file \(index): \(reply.status)")
            #expect(!reply.text.contains("uid="))
        }
    }

    /// 100 million pixels in 13 KB, an animation, and half a photo.
    @Test func bombsAreBounded() throws {
        let began = ContinuousClock.now
        let photo = try sample("flower.jpg")
        let replies = try thumbnails([
            PNGBomb.bytes(side: 10_000), Animation.bytes(frames: 2000), Array(photo.prefix(photo.count / 2)),
        ])
        for reply in replies {
            #expect([200, 422].contains(reply.status))
            if reply.status == 200 {
                #expect(reply.body.starts(with: [0xff, 0xd8]))
                #expect(reply.body.count < 100_000)
            }
        }
        #expect(.now - began < .seconds(30))
    }

    /// A photo without a thumbnail costs one decoding, also if it is asked for again in another size.
    @Test func failuresAreRemembered() throws {
        let scratch = try ScratchFolder()
        // A helper is replaced after a failed photo, so each decoding starts the program.
        let program = try scratch.write(
            "helper", "#!/bin/sh\nmkdir '\(scratch.path)'/start.$$\nexec '\(TestSite.program)'\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        let site = try TestSite { $0.helpers = WebServerOptions.helpers(program: program) }
        let folder = site.outputs + "/batch"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func write(_ bytes: [UInt8]) throws { try Data(bytes).write(to: URL(fileURLWithPath: folder + "/0.jpg")) }
        func starts() throws -> Int { try scratch.contents(".").count { $0.hasPrefix("start.") } }
        try write(Array("GIF89a".utf8))
        let id = try site.submit(photos: 1) { $0.output = folder }
        try site.report(id, files: ["0.jpg"])
        for width in [128, 128, 512] {
            let reply = try site.call("GET", "/batches/\(id)/photos/0/thumbnail?width=\(width)")
            #expect(reply.status == 422)
        }
        #expect(try starts() == 1)
        // Another file is another photo.
        try write(try sample("flower.jpg"))
        #expect(try site.call("GET", "/batches/\(id)/photos/0/thumbnail?width=128").status == 200)
        #expect(try starts() == 2)
    }

    // MARK: - The cache

    @Test func cacheIsBounded() throws {
        let scratch = try ScratchFolder()
        let cache = try ThumbnailCache(in: Folder(trusted: scratch.path), maxBytes: 10_000)
        for number in 0..<100 { cache["\(number)-256"] = [UInt8](repeating: 1, count: 1000) }
        #expect(cache.bytes <= 10_000)
        let files = try scratch.contents("thumbnails")
        #expect(files.count == cache.bytes / 1000)
        #expect(cache["99-256"]?.count == 1000)
        #expect(cache["0-256"] == nil)
        // The next start counts the files again, and removes what no longer fits.
        let second = try ThumbnailCache(in: Folder(trusted: scratch.path), maxBytes: 5000)
        #expect(second.bytes <= 5000)
        #expect(try scratch.contents("thumbnails").count == second.bytes / 1000)
    }

    @Test func cacheWithoutRoomKeepsNothing() throws {
        let scratch = try ScratchFolder()
        let cache = try ThumbnailCache(in: Folder(trusted: scratch.path), maxBytes: 0)
        cache["a-256"] = [1]
        #expect(cache.bytes == 0)
        #expect(try scratch.contents("thumbnails") == [])
    }

    @Test func filesThatVanishAreMadeAgain() throws {
        let replies = try thumbnails([try sample("flower.jpg")])
        let before = try #require(replies.first)
        let kept = site.scratch + "/thumbnails"
        #expect(try FileManager.default.contentsOfDirectory(atPath: kept).count == 1)
        for name in try FileManager.default.contentsOfDirectory(atPath: kept) {
            try FileManager.default.removeItem(atPath: kept + "/" + name)
        }
        let id = try #require(try site.json("GET", "/batches")["batches"]?[0]?["id"]?.string)
        #expect(try site.call("GET", "/batches/\(id)/photos/0/thumbnail?width=128").body == before.body)
        #expect(try FileManager.default.contentsOfDirectory(atPath: kept).count == 1)
        try FileManager.default.removeItem(atPath: kept)
        #expect(try site.call("GET", "/batches/\(id)/photos/0/thumbnail?width=128").body == before.body)
        #expect(try site.call("GET", "/batches/\(id)/photos/0/thumbnail?width=256").status == 200)
    }
}

/// A PNG with one bit a pixel whose pixels are all black.
private enum PNGBomb {
    static func bytes(side: Int) -> [UInt8] {
        let rows = [UInt8](repeating: 0, count: (side / 8 + 1) * side)
        let header = number(side) + number(side) + [1, 0, 0, 0, 0]
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunk("IHDR", header)
            + chunk("IDAT", Deflate.compress(rows, level: 9)) + chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + content
        return number(content.count) + body + number(Int(checksum(body)))
    }

    private static func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }

    /// CRC-32.
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0xedb8_8320 : 0) }
        }
    }
}

/// A GIF whose frames have one pixel each.
private enum Animation {
    static func bytes(frames: Int) -> [UInt8] {
        let frame: [UInt8] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
        let head = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
        return head + (0..<frames).flatMap { _ in frame } + [0x3b]
    }
}
