import Darkroom
import DarkroomText
import Testing

@testable import DarkroomCommand
@testable import DarkroomStore

/// The printed form of numbers, texts and JSON.
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
        #expect(HumanText.rate(1e300) == "1,000,000,000,000,000/s")
    }

    @Test func escapesControlCharacters() {
        #expect(HumanText.safe("Ärger 日本.jpg") == "Ärger 日本.jpg")
        #expect(HumanText.safe("a\tb\r\nc\u{1b}[2J\u{202e}x\u{9b}") == "a\\tb\\r\\nc\\u{1b}[2J\\u{202e}x\\u{9b}")
    }

    @Test func escapesFormulasAndControlCharactersInCSV() {
        var line = ManifestLine(
            batch: BatchID("20261121-090501123-7f3a"), record: PhotoRecord(index: 0, name: "=1+1", url: "@x"),
            state: .failed(.other))
        line.file = "-a.jpg"
        line.detail = "\u{1b}[2J\u{202e}, \"x\"\n"
        let row = ManifestCSV.rows(line)
        #expect(row.hasPrefix("20261121-090501123-7f3a,0,'=1+1,'@x,failed,'-a.jpg,other,\"\u{1b}[2J"))
        #expect(
            ManifestCSV.rows(line, isForTerminal: true).hasSuffix(
                #",other,"\u{1b}[2J\u{202e}, ""x""\n",,,,,,,,,,"# + "\n"))
        for text in ["+1", "\t=1", "\r=1"] {
            line.name = text
            #expect(ManifestCSV.rows(line).contains("'\(text)"))
        }
    }

    @Test func narrowTableOmitsTheLeastImportantColumns() {
        let columns: [Table.Column] = [
            "batch", Table.Column("state", most: 12), Table.Column("photos", rank: 2), Table.Column("rate", rank: 1),
            "name", Table.Column("notes", rank: 3),
        ]
        let rows: [[Cell]] = [
            [
                .text("20261121-090501123-7f3a"), .text("executing, downloads suspended"), .count(1234), .rate(5.5),
                .text("日本 holidays"), .text("waits for 20261121-090501123-7f3b"),
            ],
            [.text("20261121-090501124-7f3a"), .text("ready"), .count(5), .rate(nil), .text("b"), .text("")],
        ]
        func lines(_ width: Int) -> [String] {
            var widths = columns.map { TextWidth.columns(of: $0.name) }
            var shown: [Int]?
            return Table.lines(rows, columns, width: width, &widths, &shown)
        }
        for width in [120, 90, 80, 74, 60, 54] {
            let lines = lines(width)
            #expect(lines.allSatisfy { TextWidth.columns(of: $0) <= width }, "\(width): \(lines)")
            #expect(lines[1].contains("日本 holidays") && lines[1].contains("executing, …"), "\(width): \(lines)")
        }
        #expect(lines(120)[0] == "BATCH                    STATE         PHOTOS   RATE  NAME           NOTES")
        #expect(lines(90)[1].hasSuffix("5.5/s  日本 holidays  waits for 20261121-0…"), "\(lines(90))")
        #expect(!lines(80)[0].contains("RATE") && lines(80)[0].contains("PHOTOS"))
        // Empty columns are omitted first.
        let plain = rows.map { Array($0[..<5]) + [.text("")] }
        var widths = columns.map { TextWidth.columns(of: $0.name) }
        var shown: [Int]?
        #expect(Table.lines(plain, columns, width: 70, &widths, &shown)[0].hasSuffix("PHOTOS   RATE  NAME"))
        #expect(lines(54)[0].hasSuffix("STATE         NAME") && lines(54)[2].hasSuffix("ready         b"))
    }

    @Test func wordsOfACommandAreQuotedForTheShell() {
        #expect(ShellWord.quoted("/mnt/photos/a-b_c.jpg") == "/mnt/photos/a-b_c.jpg")
        #expect(ShellWord.quoted("my photos") == "'my photos'" && ShellWord.quoted("") == "''")
        #expect(ShellWord.quoted("it's; rm -rf $HOME") == #"'it'\''s; rm -rf $HOME'"#)
        #expect(ShellWord.quoted("é") == "'é'")
    }

    @Test func timeIsISO8601() { #expect(JSON(time: 1_795_251_901_123) == .string("2026-11-21T09:05:01.123Z")) }

    @Test func jsonKeepsTheOrderOfItsMembers() {
        let json: JSON = [
            "b": .string("x\"\\\n\u{1}é"), "a": JSON(1.23456, decimals: 2), "n": JSON(nil as Int?), "o": .array([]),
            "t": .bool(true), "w": JSON(3.0, decimals: 3), "z": .object([]),
        ]
        #expect(json.text == #"{"b":"x\"\\\n\u0001é","a":1.23,"n":null,"o":[],"t":true,"w":3,"z":{}}"#)
    }

    @Test func parsesTheRefusalsOfAWorker() throws {
        let first = BatchID("20261121-090501123-7f3a")
        let second = BatchID("20261121-090501999-0001")
        let refused = "\(first): its share is missing; is it mounted?; \(second): no such filter"
        let worker = WorkerFacts(id: "w", seen: 5, fields: ["refused": refused])
        #expect(worker.refusal(of: first)?.reason == "its share is missing; is it mounted?")
        #expect(worker.refusal(of: second)?.reason == "no such filter")
        #expect(worker.refusal(of: BatchID("20261121-090501123-7f3b")) == nil)
        // A reason may contain a path that looks like another entry, and the end of a long text is missing.
        let forged = "\(first): no folder /a; b: c ;\(second): x; \(second): no room; \(first): other; 2026112"
        let other = WorkerFacts(id: "w", seen: 5, fields: ["refused": forged])
        #expect(other.refusal(of: first)?.reason == "no folder /a; b: c ;\(second): x")
        #expect(other.refusal(of: second)?.reason == "no room; \(first): other; 2026112")
    }

    /// A submitter chooses an output folder whose path looks like the refusals of other batches.
    @Test func refusalOfABatchCannotForgeThatOfAnother() throws {
        let ids = try (0..<4).map { try #require(BatchID("20261121-090501123-7f3\($0)" as String)) }
        let reasons = [
            ids[0]: "its output /a is missing; is it mounted?",
            ids[2]: "its output /b; \(ids[1]): forged; \(ids[3]): forged; \(ids[0]): forged is missing; is it mounted?",
            ids[3]: "no room; none;",
        ]
        let worker = WorkerFacts(
            id: "w", seen: 5, fields: ["refused": WorkerFacts.text(of: reasons.mapValues { Refusal(.other, $0) })])
        for id in [ids[0], ids[3]] { #expect(worker.refusal(of: id)?.reason == reasons[id]) }
        #expect(worker.refusal(of: ids[1]) == nil, "a batch that the worker runs counts as refused")
        #expect(worker.refusal(of: ids[2])?.reason == reasons[ids[2]]?.replacing("; 2026", with: ", 2026"))
        let most = WorkerFacts.mostRefusedText
        let long = WorkerFacts.text(of: [ids[0]: Refusal(.other, String(repeating: "é;", count: most))])
        #expect(long.unicodeScalars.count == most)
    }
}
