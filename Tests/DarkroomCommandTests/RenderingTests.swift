import Darkroom
import Testing

@testable import DarkroomCommand
@testable import DarkroomStore

/// Numbers, texts and JSON as they are printed.
@Suite struct RenderingTests {
    @Test(arguments: [
        (0, "0 ms"), (0.0421, "42 ms"), (0.9996, "1.0 s"), (4.24, "4.2 s"), (59.96, "1m 00s"), (192, "3m 12s"),
        (7500, "2h 05m"), (273_600, "3d 04h"),
    ])
    func duration(_ seconds: Double, _ text: String) { #expect(HumanText.duration(seconds) == text) }

    @Test(arguments: [
        (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (12_345, "12.3 kB"), (999_600, "1.0 MB"), (123_456_789, "123 MB"),
        (5_000_000_000_000, "5.0 TB"),
    ])
    func bytes(_ count: Int, _ text: String) { #expect(HumanText.bytes(count) == text) }

    @Test func countsAndRates() {
        #expect(HumanText.count(0) == "0" && HumanText.count(999) == "999" && HumanText.count(-1234) == "-1,234")
        #expect(HumanText.count(1_234_567) == "1,234,567")
        #expect(HumanText.count(1, of: "batch") == "1 batch" && HumanText.count(2, of: "batch") == "2 batches")
        #expect(HumanText.rate(8.07) == "8.1/s" && HumanText.rate(1234.4) == "1,234/s")
    }

    @Test func textOfStrangersSteersNoTerminal() {
        #expect(HumanText.safe("Ärger 日本.jpg") == "Ärger 日本.jpg")
        #expect(HumanText.safe("a\tb\r\nc\u{1b}[2J\u{202e}x\u{9b}") == "a\\tb\\r\\nc\\u{1b}[2J\\u{202e}x\\u{9b}")
    }

    @Test func timeIsISO8601() { #expect(JSON(time: 1_795_251_901_123) == .string("2026-11-21T09:05:01.123Z")) }

    @Test func jsonKeepsTheOrderOfItsMembers() {
        let json: JSON = [
            "b": .string("x\"\\\n\u{1}é"), "a": JSON(1.23456, decimals: 2), "n": JSON(nil as Int?), "o": .array([]),
            "t": .bool(true), "w": JSON(3.0, decimals: 3), "z": .object([]),
        ]
        #expect(json.text == #"{"b":"x\"\\\n\u0001é","a":1.23,"n":null,"o":[],"t":true,"w":3,"z":{}}"#)
    }

    @Test func refusalsOfAWorkerAreTakenApart() throws {
        let first = BatchID("20261121-090501123-7f3a")
        let second = BatchID("20261121-090501999-0001")
        let refused = "\(first): its share is missing; is it mounted?; \(second): no such filter"
        let worker = WorkerFacts(id: "w", seen: 5, fields: ["refused": refused])
        #expect(worker.refusal(of: first) == "its share is missing; is it mounted?")
        #expect(worker.refusal(of: second) == "no such filter")
        #expect(worker.refusal(of: BatchID("20261121-090501123-7f3b")) == nil)
    }
}
