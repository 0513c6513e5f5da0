import Testing

@testable import DarkroomLists

@Suite struct ListDetectionTests {
    static let noLists: [([UInt8], PhotoListError.Code, String)] = [
        ([], .empty, "empty"), (Array(" \n\r\n\t".utf8), .empty, "empty"),
        (Array("# only this\n".utf8), .empty, "0 photos"),
        (Array("Dear all,\nsee you, tomorrow\n".utf8), .notAList, "Dear all"),
        (Array("NO URL\n".utf8), .notAList, "NO URL"),
        (Array("<!DOCTYPE html><html>".utf8), .notAList, "HTML"),
        (Array("<?xml version=\"1.0\"?><rss/>".utf8), .notAList, "XML"),
        ([0xff, 0xd8, 0xff, 0xe0], .notAList, "JPEG"), ([0x89] + Array("PNG\r\n".utf8), .notAList, "PNG"),
        ([0xff, 0xfe, 0x68, 0], .notAList, "iconv"), ([0, 1, 2, 3], .notAList, "binary"),
        ([0x68, 0, 0x74, 0], .notAList, "binary"),
        (Array("http://a/1\rhttp://a/2\r".utf8), .notAList, "CR"),
        (Array("PK\u{3}\u{4}".utf8), .notAList, "zip"), (Array("bplist00".utf8), .damaged, "property list"),
    ]

    @Test(arguments: noLists.indices) func errorSaysWhyAFileIsNotAList(number: Int) throws {
        let (bytes, code, found) = Self.noLists[number]
        for step in [1, .max] {
            let error = try #require(failure(of: bytes, step: step))
            #expect(error.code == code)
            #expect(error.description.contains(found), "\(error)")
        }
    }

    @Test func errorNamesListAndLine() {
        let error = PhotoListError(.damaged, list: "photos.csv", line: 17, "no end")
        #expect(error.description == "photo list photos.csv, line 17: no end")
    }

    @Test func detectsTheFormatFromTheStartOfTheList() throws {
        var parser = PhotoListParser()
        let text = Array(String(repeating: "http://a/1.jpg\n", count: 5000).utf8)
        let isKnown = try text.withUnsafeBytes { try parser.examine($0, isLast: false) }
        #expect(isKnown)
        #expect(parser.format == .text)
    }
}
