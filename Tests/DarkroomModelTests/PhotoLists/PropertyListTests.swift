import DarkroomModel
import Foundation
import Testing

@Suite struct PropertyListTests {
    func bytes(_ value: Any, _ format: PropertyListSerialization.PropertyListFormat) throws -> [UInt8] {
        Array(try PropertyListSerialization.data(fromPropertyList: value, format: format, options: 0))
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func sortsADictionaryByTheBytesOfItsNames(format: PropertyListSerialization.PropertyListFormat) throws {
        let list = try bytes(
            [
                "b": "http://a/b", "é": "http://a/e", "a": "NO URL", "B": 7, "c": ["x"], "d": ["y": "z"],
                "Mother & Child": "",
            ],
            format)
        for step in [100, .max] {
            #expect(
                try entries(of: list, step: step).map { "\($0.name)=\($0.url)" } == [
                    "B=the number 7 in place of a URL", "Mother & Child=", "a=NO URL", "b=http://a/b",
                    "c=an array in place of a URL", "d=a dictionary in place of a URL", "é=http://a/e",
                ])
        }
    }

    @Test(arguments: [PropertyListSerialization.PropertyListFormat.xml, .binary])
    func keepsAnArraysOrder(format: PropertyListSerialization.PropertyListFormat) throws {
        let list = try bytes(["http://a/b.jpg", "http://a/a.jpg", true], format)
        #expect(try entries(of: list).map(\.name).prefix(2) == ["b.jpg", "a.jpg"])
        #expect(try entries(of: list).count == 3)
    }

    @Test func knowsWhetherNamesAreUnique() throws {
        for (value, isUnique) in [(["a": "http://a/1"], true), (["http://a/1"], false)] as [(Any, Bool)] {
            var parser = PhotoListParser()
            let list = try bytes(value, .xml)
            let isKnown = try list.withUnsafeBytes { try parser.examine($0, isLast: true) }
            #expect(isKnown)
            #expect(parser.namesAreUnique == isUnique)
            var count = 0
            try [].withUnsafeBytes { try parser.parse($0, isLast: true) { _, _ in count += 1 } }
            #expect(count == 1)
        }
    }

    @Test func refusesWhatIsTruncatedOrNoList() throws {
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let list = try bytes(["a": "http://a/1", "b": "http://a/2"], format)
            let error = try #require(failure(of: Array(list.dropLast(20))))
            #expect(error.code == .damaged)
            #expect(error.message.contains("ends too early"))
            let text = try #require(failure(of: try bytes("http://a/1", format)))
            #expect(text.code == .notAList)
        }
    }

    @Test func readsTheTutorialsList() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Fixtures/ClassicPhotosDictionary.plist")
        let found = try entries(of: Array(Data(contentsOf: file)))
        #expect(found.count == 34)
        #expect(found.map(\.name).first == "Big Fella")
        #expect(found.map(\.name).last == "Zebra")
        #expect(
            found.filter { $0.url == "NO URL" }.map(\.name) == [
                "Chocolate House", "Cute Monkey", "Flying Taxi", "Monkey",
            ])
        #expect(
            found.contains { $0.name == "Mother & Child" }
                && found.contains { $0.name == "Maya Ruines in Copán Ruinas 2" })
        let names = found.map { Array($0.name.utf8) }
        #expect(zip(names, names.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    }

    /// Found by fuzzing, seed 20272608: Foundation ends the process when a set is in the list.
    @Test func aSetInABinaryListIsRefused() throws {
        var list = try bytes(["a": "http://h/a"], .binary)
        list[8] = 0xC1
        #expect(failure(of: list)?.description.contains("an object of another kind") == true)
    }

    /// Found by fuzzing, seed 20263136: the text for such an object was another each time the list was read.
    @Test func aUIDInABinaryListIsTheSameEveryTime() throws {
        var list = try bytes([7], .binary)
        let number = try #require(list.firstIndex(of: 0x10))
        list[number] = 0x80
        #expect(try entries(of: list).map(\.url) == ["a value of another kind in place of a URL"])
    }

    @Test func deepNestingIsRefused() {
        // An array that holds itself.
        let cycle =
            Array("bplist00".utf8) + [0xA1, 0, 8] + [0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1]
            + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10]
        #expect(failure(of: cycle)?.description.contains("512 levels of nesting") == true)
        let xml = "<?xml version='1.0'?><plist>" + String(repeating: "<array>", count: 1_000_000)
        let closed = xml + String(repeating: "</array>", count: 1_000_000) + "</plist>"
        for text in [xml, closed] { #expect(failure(of: Array(text.utf8)) != nil) }
    }
}
