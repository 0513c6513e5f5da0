import DarkroomCoding
import DarkroomModel
import ErrorExpectations
import Testing

@testable import DarkroomStore

@Suite struct EntryCodingTests {
    private func entry(_ photos: [(String, String)], operationSize: Int = 50) -> [UInt8] {
        var lines: [UInt8] = []
        for (name, url) in photos {
            Array(name.utf8).withUnsafeBytes { name in
                Array(url.utf8).withUnsafeBytes { url in
                    OperationEntry.append(name: name, url: url, operationSize: operationSize, to: &lines)
                }
            }
        }
        return [EntryCoding.version] + Deflate.compress(lines, level: 1)
    }

    @Test func keepsTabsLineFeedsAndBackslashes() throws {
        let photos = [
            ("plain", "http://example.com/1.jpg"), ("a\tb\nc\rd\\e", "http://example.com/\\\t\n\r?q=\\n"), ("", ""),
            ("ends with \\", "\\t"), ("naïve 写真 📷", "http://example.com/ü"),
        ]
        let records = try EntryCoding.records(of: entry(photos), firstIndex: 100)
        #expect(records == photos.enumerated().map { PhotoRecord(index: 100 + $0, name: $1.0, url: $1.1) })
    }

    @Test func replacesATooLongURLByAnExplanation() throws {
        let long = "http://example.com/" + String(repeating: "x", count: 30_000 - 19)
        let photos = [("before", "http://example.com/1"), (String(repeating: "n", count: 9000), long), ("after", "u")]
        let records = try EntryCoding.records(of: entry(photos), firstIndex: 0)
        #expect(records.count == 3)
        #expect(records[1].url == "URL of 30000 bytes, too long for operations of 50")
        #expect(records[1].name == String(repeating: "n", count: 5242))
        #expect(records[2] == PhotoRecord(index: 2, name: "after", url: "u"))
        #expect(try EntryCoding.records(of: entry(photos, operationSize: 10), firstIndex: 0)[1].url == long)
    }

    @Test func rejectsAnEntryOfANewerVersion() {
        let error = expectError(StoreError.self) { try EntryCoding.records(of: [2, 0, 0], firstIndex: 0) }
        #expect(error?.code == .damagedEntry)
        #expect(error?.description.contains("version 2, this program reads 1") == true)
    }

    @Test func rejectsADamagedEntry() {
        for damaged in [[], [1], [1, 2, 3], Array(entry([("a", "b")]).dropLast(3))] as [[UInt8]] {
            #expect(throws: StoreError.self) { try EntryCoding.records(of: damaged, firstIndex: 0) }
        }
    }
}
