import Darkroom
import DarkroomCoding
import DarkroomImaging
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// `--photo-timeout`: photos that need more processor time than allowed.
@Suite(.redisServer) struct PhotoTimeoutTests {
    @Test func slowPhotosFailAndOthersContinue() throws {
        let queue = try Queue()
        let files = [
            "slow.png": SlowPhoto.png(), "fine.png": SamplePhoto.bytes(.png), "fine.jpg": SamplePhoto.bytes(.jpeg),
            "interlaced.png": SlowPhoto.png(isInterlaced: true),
        ]
        for (name, bytes) in files { try Data(bytes).write(to: URL(fileURLWithPath: "\(queue.folder)/\(name)")) }
        let names = ["slow.png", "interlaced.png", "fine.png", "fine.jpg"]
        let id = try queue.submit(names.map { "file://\(queue.folder)/\($0)" })
        let worker = try queue.start(
            "worker", "--photo-timeout", "1s", "--filtrations", "1", "--files-under", queue.folder)
        defer { worker.send(SIGTERM) }
        _ = try queue.run("wait", "\(id)", "--timeout", "50s")
        let photos = try queue.run("photos", "\(id)", "--json").json() as? [[String: Any]]
        #expect(photos?.map { $0["reason"] as? String } == ["filter-timeout", "filter-timeout", nil, nil])
        let counted = try #require(try queue.run("status", "\(id)", "--json").json() as? [String: Any])
        #expect(counted["failures"] as? [String: Int] == ["filter-timeout": 2])
        #expect(try queue.run("retry", "\(id)", "--reason", "filter-timeout").status == 0)
        #expect(try queue.store.facts(of: id)?.round == 2)
    }
}

/// A PNG of 20 KB with a width of one pixel. Decoding spends nearly all its time on the overhead of each row.
enum SlowPhoto {
    static func png(isInterlaced: Bool = false) -> [UInt8] {
        let height = 9_999_999
        let header = number(1) + number(height) + [8, 0, 0, 0, isInterlaced ? 1 : 0]
        // At a width of one pixel, interlacing (Adam7) only changes the order of the rows.
        let rows = [UInt8](repeating: 0, count: 2 * height)
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        return signature + chunk("IHDR", header) + chunk("IDAT", Deflate.compress(rows)) + chunk("IEND", [])
    }

    private static func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (24 - 8 * $0) & 255) } }

    private static func chunk(_ type: String, _ bytes: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + bytes
        return number(bytes.count) + body + number(Int(checksum(body)))
    }

    /// The CRC-32 of PNG (section 5.5).
    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
    }
}
