import Foundation
import Testing

@testable import DarkroomLogging

/// Tests the format of log lines with any content.
@Suite struct LogLineTests {
    private static let time = 1_795_251_901_007  // 2026-11-21T09:05:01.007Z

    private func line(_ metadata: LogMetadata, _ format: LogFormat = .readable, leftOut: Int = 0) -> String {
        let event = LogEvent(level: .warning, label: "worker", message: "photo failed", metadata: metadata, key: nil)
        return String(decoding: event.line(format, time: Self.time, leftOut: leftOut), as: UTF8.self)
    }

    private func object(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    @Test func readableLineHasItsValuesInAFixedOrder() {
        let metadata: LogMetadata = [
            "reason": "timeout", .url: .url("http://ann:secret@h/a.jpg?token=secret"), .photo: 17,
            "seconds": .seconds(.microseconds(1_250_400)), .operation: 3, "last": true, .batch: "20261121-1",
        ]
        let head = "2026-11-21T09:05:01.007Z warning worker: photo failed"
        let values = "batch=20261121-1 operation=3 photo=17 url=http://h/a.jpg last=true reason=timeout seconds=1.25"
        #expect(line(metadata) == "\(head) \(values)\n")
        #expect(line([:], leftOut: 41) == "\(head) leftOut=41\n")
    }

    @Test func jsonLineIsOneObject() throws {
        let metadata: LogMetadata = [.photo: 17, "found": "ftp://u:secret@h/ \"x\"", "ratio": 0.5, "last": true]
        let text = line(metadata, .json, leftOut: 2)
        let object = try object(text)
        #expect(object["time"] as? String == "2026-11-21T09:05:01.007Z" && object["level"] as? String == "warning")
        #expect(object["logger"] as? String == "worker" && object["message"] as? String == "photo failed")
        #expect(object["photo"] as? Int == 17 && object["found"] as? String == "ftp://h/ \"x\"")
        #expect(object["ratio"] as? Double == 0.5 && object["last"] as? Bool == true && object["leftOut"] as? Int == 2)
        #expect(text.hasPrefix("{\"time\":") && text.hasSuffix("}\n"))
    }

    @Test(arguments: [
        ("a\n2026 info worker: all is well", #""a\n2026 info worker: all is well""#),
        ("a batch=x", #""a batch=x""#), ("a=b", #""a=b""#), ("", #""""#), ("a\"b\\", #""a\"b\\""#),
        ("\u{1b}[31m\u{9b}2J\u{7f}\r\t", #""\u{1b}[31m\u{9b}2J\u{7f}\r\t""#),
        ("x\u{2028}y\u{202e}z\u{e0041}", #""x\u{2028}y\u{202e}z\u{e0041}""#), ("gr\u{fc}n", "\"gr\u{fc}n\""),
        ("\r\n", #""\r\n""#),
    ])
    func namesCannotForgeALine(_ name: String, _ shown: String) throws {
        #expect(line(["name": .text(name)]).hasSuffix("photo failed name=\(shown)\n"))
        let json = line(["name": .text(name)], .json)
        #expect(try object(json)["name"] as? String == name)
        let marks: Set<UInt32> = [0x7f, 0x9b, 0x2028, 0x202e, 0xe0041]
        #expect(json.unicodeScalars.dropLast().allSatisfy { $0.value >= 32 && !marks.contains($0.value) })
        #expect(json.utf8.filter { $0 == 10 }.count == 1)
    }

    @Test(arguments: LogFormat.allCases) func linesFitIntoOneAtomicPipeWrite(_ format: LogFormat) throws {
        let long = String(repeating: "\u{1}", count: 5000)
        let value = LogMetadata.Value.text(long)
        let metadata: LogMetadata = [.batch: "b", "a": value, "c": value, "d": value, "e": value]
        let text = line(metadata, format, leftOut: .max)
        #expect(text.utf8.count <= 4096 && text.utf8.count > 3000 && text.hasSuffix("\n"))
        #expect(text.contains("isCut"))
        if format == .json {
            #expect(try object(text)["leftOut"] as? Int == .max)
        }
        let wide = line(["a": .text(String(repeating: "\u{1F4F7}", count: 3000))], format)
        #expect(wide.contains("\u{1F4F7}\u{2026}\"") && !wide.contains("\u{fffd}"))
    }

    @Test func lastValueOfANameCounts() {
        var metadata: LogMetadata = ["a": 1, "a": 2, "level": "x"]
        #expect(line(metadata).hasSuffix(" a=2 level_=x\n"))
        metadata["a"] = nil
        #expect(line(metadata.adding([.worker: "w", "level": "y"])).hasSuffix(": photo failed worker=w level_=y\n"))
    }
}
