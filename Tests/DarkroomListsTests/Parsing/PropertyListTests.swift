import DarkroomStorage
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomLists

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
    func keepsTheOrderOfAnArray(format: PropertyListSerialization.PropertyListFormat) throws {
        let list = try bytes(["http://a/b.jpg", "http://a/a.jpg", true], format)
        #expect(try entries(of: list).map(\.name).prefix(2) == ["b.jpg", "a.jpg"])
        #expect(try entries(of: list).count == 3)
    }

    @Test func reportsWhetherNamesAreUnique() throws {
        for (value, isUnique) in [(["a": "http://a/1"], true), (["http://a/1"], false)] as [(Any, Bool)] {
            var parser = PhotoListParser()
            let list = try bytes(value, .xml)
            let isKnown = try list.withUnsafeBytes { try parser.examine($0, isLast: true) }
            #expect(isKnown)
            #expect(parser.namesAreUnique == isUnique)
            var count = 0
            try [].withUnsafeBytes { try parser.parse($0, isLast: true) { _ in count += 1 } }
            #expect(count == 1)
        }
    }

    /// On some file systems Photo.jpg and photo.jpg are one file, and so are the two encodings of É. For a list with
    /// such names, the template contains `{index}`.
    @Test func choosesATemplateThatKeepsFilesDistinctOnEveryFileSystem() throws {
        for (names, template) in [
            (["a.jpg", "b.png"], "{stem}"), (["a.jpg", "b"], "{stem}"), (["a.jpg", "a"], "{name}"),
            (["a.jpg", "a.png"], "{name}"), (["a", "b"], "{name}"), (["Photo.jpg", "photo.png"], "{name}"),
            (["Photo.jpg", "photo.jpg", "x"], "{index}-{name}"), (["\u{c9}", "e\u{301}"], "{index}-{name}"),
        ] {
            let list = try bytes(Dictionary(uniqueKeysWithValues: names.map { ($0, "http://h/\($0)") }), .binary)
            var parser = PhotoListParser()
            _ = try list.withUnsafeBytes { try parser.examine($0, isLast: true) }
            let found = FileNameTemplate.standard(
                namesAreDistinct: parser.namesAreDistinct, stemsAreDistinct: parser.stemsAreDistinct
            )
            #expect(found == template, "\(names)")
        }
    }

    @Test func refusesTruncatedListsAndOtherPropertyLists() throws {
        for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
            let list = try bytes(["a": "http://a/1", "b": "http://a/2"], format)
            let error = try #require(failure(of: Array(list.dropLast(20))))
            #expect(error.code == .damaged)
            #expect(error.message.contains("ends too early"))
            let text = try #require(failure(of: try bytes("http://a/1", format)))
            #expect(text.code == .notAList)
        }
    }

    @Test func readsTheListOfTheTutorial() throws {
        let found = try entries(of: TestFiles.fixture("ClassicPhotosDictionary.plist"))
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

    /// Found by fuzzing, seed 20272608: Foundation ends the process if the list contains a set.
    @Test func binaryListWithASetIsNotAList() throws {
        var list = try bytes(["a": "http://h/a"], .binary)
        list[8] = 0xC1
        #expect(failure(of: list)?.code == .notAList)
    }

    /// Found by fuzzing, seed 20263136: the text for a UID differed each time the list was read.
    @Test func textOfAUIDInABinaryListIsConstant() throws {
        var list = try bytes([7], .binary)
        let number = try #require(list.firstIndex(of: 0x10))
        list[number] = 0x80
        #expect(try entries(of: list).map(\.url) == ["a value of another kind in place of a URL"])
    }

    @Test func deepNestingIsNotFollowed() throws {
        let cycle = binary([[0xA1, 0]])  // an array that contains itself
        #expect(try entries(of: cycle).map(\.url) == ["an array in place of a URL"])
        let xml = "<?xml version='1.0'?><plist>" + String(repeating: "<array>", count: 1_000_000)
        let closed = xml + String(repeating: "</array>", count: 1_000_000) + "</plist>"
        for text in [xml, closed] { #expect(failure(of: Array(text.utf8)) != nil) }
    }

    /// Each array refers to the next array twice, so the expanded list would have 2^50 arrays.
    @Test func sharedContainersAreNotExpanded() throws {
        let levels = (1...50).map { [0xA2, UInt8($0), UInt8($0)] } + [[0xA0]]
        let list = binary(levels)
        #expect(list.count < 300)
        #expect(try entries(of: list).map(\.url) == Array(repeating: "an array in place of a URL", count: 2))
    }

    @Test func textWithManyReferencesCountsForEachReference() throws {
        let url = Array("http://h/".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 991)
        let text: [UInt8] = [0x5F, 0x11, 0x03, 0xE8] + url
        let list = binary([[0xAF, 0x11, 0x07, 0xD0] + [UInt8](repeating: 1, count: 2000), text])
        #expect(try entries(of: list, maxWholeBytes: 2_000_000).count == 2000)
        #expect(throws: PhotoListError.self) { try entries(of: list, maxWholeBytes: 1_999_999) }
    }

    @Test func duplicateKeyIsDamage() {
        let list = binary([[0xD2, 1, 1, 2, 2], [0x51, 0x61], [0x51, 0x62]])
        #expect(failure(of: list)?.description.contains("\"a\" occurs twice in its dictionary") == true)
    }

    /// The texts of the keys overlap, so the sum of their sizes is many times the size of the list.
    @Test func keysThatShareTheirBytesAreDamage() {
        let count = 200
        // The header of a text of 1,024 characters.
        let marker: [UInt8] = [0x5F, 0x11, 0x04, 0x00]
        var nest: [UInt8] = []
        for number in 0..<count {
            nest += marker
            nest.append(UInt8(97 + number % 26))
            nest.append(UInt8(48 + number / 26))
        }
        func number(_ value: Int, _ bytes: Int) -> [UInt8] {
            (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * (bytes - 1 - $0))) }
        }
        var list = Array("bplist00".utf8)
        var offsets = [list.count]
        list += [0xDF, 0x11] + number(count, 2)
        for key in 1...count { list += number(key, 2) }
        for _ in 1...count { list += number(1, 2) }
        for position in 0..<count { offsets.append(list.count + 6 * position) }
        list += nest
        list += [UInt8](repeating: UInt8(ascii: "x"), count: 1030)
        let table = list.count
        for offset in offsets { list += number(offset, 2) }
        list += [0, 0, 0, 0, 0, 0, 2, 2]
        list += number(count + 1, 8) + number(0, 8) + number(table, 8)
        #expect(failure(of: list)?.description.contains("its keys share their bytes") == true)
    }

    @Test func entitiesOfAnXMLListAreNotExpanded() {
        let entities = (1...40).map { "<!ENTITY a\($0) \"&a\($0 - 1);&a\($0 - 1);\">" }.joined()
        let list =
            "<?xml version='1.0'?><!DOCTYPE plist [<!ENTITY a0 \"http://h/a\">\(entities)]>"
            + "<plist version='1.0'><array><string>&a40;</string></array></plist>"
        #expect(failure(of: Array(list.utf8))?.code == .damaged)
    }

    /// A binary property list of these objects, with 2-byte offsets and 1-byte references. The first object is the
    /// root.
    private func binary(_ objects: [[UInt8]]) -> [UInt8] {
        var list = Array("bplist00".utf8)
        var table: [UInt8] = []
        for object in objects {
            table += [UInt8(list.count >> 8), UInt8(list.count & 255)]
            list += object
        }
        let start = list.count
        func number(_ value: Int) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * $0)) } }
        list += table
        list += [0, 0, 0, 0, 0, 0, 2, 1]
        for value in [objects.count, 0, start] { list += number(value) }
        return list
    }
}
