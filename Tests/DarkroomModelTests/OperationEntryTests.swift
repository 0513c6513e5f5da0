import DarkroomModel
import ErrorExpectations
import Testing

@Suite struct OperationEntryTests {
    private func entry(_ photos: [(String, String)], operationSize: Int = 50) -> [UInt8] {
        var entry = OperationEntry(operationSize: operationSize)
        for (name, url) in photos { ListEntry.with(name: name, url: url) { entry.append($0) } }
        return entry.packed()
    }

    @Test func keepsTabsLineFeedsAndBackslashes() throws {
        let photos = [
            ("plain", "http://example.com/1.jpg"), ("a\tb\nc\rd\\e", "http://example.com/\\\t\n\r?q=\\n"), ("", ""),
            ("ends with \\", "\\t"), ("naïve 写真 📷", "http://example.com/ü"),
        ]
        let records = try OperationEntry.records(of: entry(photos), firstIndex: 100)
        #expect(records == photos.enumerated().map { PhotoRecord(index: 100 + $0, name: $1.0, url: $1.1) })
    }

    @Test func replacesATooLongURLByAnExplanation() throws {
        let long = "http://example.com/" + String(repeating: "x", count: 30_000 - 19)
        let photos = [("before", "http://example.com/1"), (String(repeating: "n", count: 9000), long), ("after", "u")]
        let records = try OperationEntry.records(of: entry(photos), firstIndex: 0)
        #expect(records.count == 3)
        #expect(records[1].url == "URL of 30000 bytes, too long for operations of 50")
        #expect(records[1].name == String(repeating: "n", count: 5242))
        #expect(records[2] == PhotoRecord(index: 2, name: "after", url: "u"))
        #expect(try OperationEntry.records(of: entry(photos, operationSize: 10), firstIndex: 0)[1].url == long)
    }

    @Test func rejectsAnEntryOfANewerVersion() {
        let error = expectError(EntryError.self) { try OperationEntry.records(of: [2, 0, 0], firstIndex: 0) }
        #expect(error?.description.contains("version 2, this program reads 1") == true)
    }

    @Test func rejectsADamagedEntry() {
        for damaged in [[], [1], [1, 2, 3], Array(entry([("a", "b")]).dropLast(3))] as [[UInt8]] {
            #expect(throws: EntryError.self) { try OperationEntry.records(of: damaged, firstIndex: 0) }
        }
    }
}
