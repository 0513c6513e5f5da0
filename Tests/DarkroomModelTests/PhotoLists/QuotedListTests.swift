import Testing

@testable import DarkroomModel

/// Lists with quotation marks that do not enclose fields.
@Suite struct QuotedListTests {
    /// The lines of a table with these names.
    private func table(_ names: [String], _ delimiter: String = "\t", end: String = "\n", header: Bool = true) -> String
    {
        let rows = names.enumerated().map { "\($1)\(delimiter)http://a/\($0).jpg" }
        return ((header ? ["caption\(delimiter)url"] : []) + rows).joined(separator: end) + end
    }

    private static let captions: [[String]] = [
        ["a", "\"b", "c", "d"], ["a", "\"b", "c\"", "d"], ["\"a", "b", "c", "\"d"], ["a", "b", "c", "\"d"],
        ["\"a\"", "\"b", "c", "d"], ["5\" a", "\"b", "c", "d\""], ["\"", "b", "c", "\"\""],
        ["a \"x\"", "\"y\" b", "\"c", "d"],
    ]

    @Test(arguments: captions, ["\n", "\r\n"]) func quotationMarksOfTSVAreText(names: [String], end: String) throws {
        for header in [true, false] {
            let found = try lines(of: table(names, end: end, header: header), named: "list.tsv")
            #expect(found == names.enumerated().map { "\($1)=http://a/\($0).jpg" })
        }
    }

    @Test(arguments: [0, 500, 900, 999], ["", "\""]) func noRowOfALongTSVIsLost(row: Int, ending: String) throws {
        var names = (0..<1000).map {
            "caption \($0) of a list that is longer than the window in which formats are detected"
        }
        names[row] = "\"" + names[row] + ending
        names[999] += "\""
        let found = try entries(of: Array(("\u{feff}" + table(names)).utf8), named: "list.tsv", step: 4096)
        #expect(found.count == 1000 && found.map(\.url) == names.indices.map { "http://a/\($0).jpg" })
    }

    /// The quoted field is resolved after 1 MiB, although the list has no other quotation mark.
    @Test(arguments: [1000, 100_000, .max]) func noRowOfAHugeTSVIsLost(step: Int) throws {
        var names = (0..<20_000).map {
            "caption \($0) of a list, in which a quoted field could be longer than a megabyte"
        }
        names[1000] = "\"" + names[1000]
        let found = try entries(of: Array(table(names).utf8), named: "list.tsv", step: step)
        #expect(found.count == 20_000 && found.map(\.url) == names.indices.map { "http://a/\($0).jpg" })
    }

    @Test func quotedFieldsOfTSVAreReadAsInCSV() throws {
        let text =
            "name\turl\n\"Cat \"\"Tom\"\"\"\thttp://a/1.jpg\n\"two\twords\"\thttp://a/2.jpg\n\"two\nlines\"\thttp://a/3.jpg\n"
        let expected = ["Cat \"Tom\"=http://a/1.jpg", "two\twords=http://a/2.jpg", "two\nlines=http://a/3.jpg"]
        #expect(try lines(of: text) == expected)
        #expect(try lines(of: "\"url\"\t\"name\"\n\"http://a/1.jpg\"\t\"Cat\"\n") == ["Cat=http://a/1.jpg"])
    }

    @Test func rowsOfCSVWithinAQuotedFieldAreRows() throws {
        let text = "name,url\nCat,http://a/1\n\"Dog,http://a/2\nApe,http://a/3\nthe \"end,http://a/4\nEmu,http://a/5\n"
        #expect(try lines(of: text).map { $0.suffix(10) } == (1...5).map { "http://a/\($0)" })
    }

    private func parsed(_ text: String, _ quotes: ListQuotes? = nil) throws -> (entries: [String], remark: String?) {
        var parser = PhotoListParser(listName: "x.csv", quotes: quotes)
        var found: [String] = []
        try Array(text.utf8).withUnsafeBytes { bytes in
            try parser.parse(bytes, isLast: true) {
                let entry = PhotoListEntry(name: $0, url: $1)
                found.append("\(entry.name)=\(entry.url)")
            }
        }
        return (found, parser.quoteRemark)
    }

    @Test func userChoosesHowQuotationMarksAreRead() throws {
        let text = "name\turl\n\"Cat\thttp://a/1\nDog\"\thttp://a/2\n"
        #expect(try parsed(text, .literal).entries == ["\"Cat=http://a/1", "Dog\"=http://a/2"])
        #expect(try parsed(text, .csv).entries == ["Cat\thttp://a/1\nDog=http://a/2"])
        let quoted = "name,url\n\"Cat\",http://a/1\n"
        #expect(try parsed(quoted, .literal).entries == ["\"Cat\"=http://a/1"])
    }

    @Test func fieldWithLineEndsThatChangesTheNumberOfFieldsIsTold() throws {
        let odd = try parsed("name,url\nCat,http://a/1\n\"Dog,x\nlast\n\",http://a/2,3,4\n")
        #expect(odd.remark?.hasPrefix("line 3: ") == true, "\(odd)")
        #expect(try parsed("name,url\n\"two\nlines\",http://a/2\n").remark == nil)
    }

    // MARK: Delimiters in URLs

    private static let unquoted: [(String, [String])] = [
        ("name,url\nCat,http://a/w_1,h_2/c.jpg\n", ["Cat=http://a/w_1,h_2/c.jpg"]),
        ("url,name\nhttp://a/w_1,h_2/c.jpg,Cat\n", ["Cat=http://a/w_1,h_2/c.jpg"]),
        ("url,name,id\nhttp://a/w_1,h_2,c_fill/c.jpg,Cat,7\n", ["Cat=http://a/w_1,h_2,c_fill/c.jpg"]),
        ("id,url,name\n7,http://a/x?s=1,t=2,Cat\n", ["Cat=http://a/x?s=1,t=2"]),
        ("id;url;name\n7;http://a/a;b.jpg;Cat\n", ["Cat=http://a/a;b.jpg"]),
        // The comma is in a text.
        ("name,url\nCat, big,http://a/c.jpg\n", ["Cat, big=http://a/c.jpg"]),
        ("url,name\nhttp://a/c.jpg,Cat, big\n", ["Cat, big=http://a/c.jpg"]),
        ("url,name,id\nhttp://a/c.jpg,Cat,big,7\n", ["Cat=http://a/c.jpg"]),
        ("name,url\nCat,http://a/Smith, John.jpg\n", ["Cat=http://a/Smith, John.jpg"]),
        // Columns without a value.
        ("name,url\nCat,http://a/c.jpg,\nDog,http://a/d,e.jpg,,\n", ["Cat=http://a/c.jpg", "Dog=http://a/d,e.jpg"]),
        ("\"url\",\"name\"\r\n\"http://a/1,2.jpg\",Cat, big\r\n", ["Cat, big=http://a/1,2.jpg"]),
        // Without a header.
        (
            "Cat,http://a/w_1,h_2/c.jpg\nDog,http://a/w_1,h_2/d.jpg\n",
            ["Cat=http://a/w_1,h_2/c.jpg", "Dog=http://a/w_1,h_2/d.jpg"]
        ),
        (
            "Cat,http://a/c.jpg\nDog,http://a/d,e.jpg\nApe,http://a/f.jpg\n",
            ["Cat=http://a/c.jpg", "Dog=http://a/d,e.jpg", "Ape=http://a/f.jpg"]
        ),
        ("http://a/w_1,h_2/c.jpg\n", ["c.jpg=http://a/w_1,h_2/c.jpg"]),
    ]

    @Test(arguments: unquoted.indices) func urlWithDelimitersIsJoined(number: Int) throws {
        let (text, expected) = Self.unquoted[number]
        #expect(try lines(of: text, named: "x.csv") == expected)
    }

    @Test(arguments: [
        "url,name,id\nhttp://a/1,2,Cat,7\n", "url,name,id\nhttp://a/1.jpg,2.jpg,Cat,7\n",
        "name,url\nCat,http://a/1.jpg,http://a/2.jpg\n",
    ])
    func rowWhoseURLIsUnknownIsAPhotoThatFails(text: String) throws {
        let found = try entries(of: Array(text.utf8), named: "x.csv")
        #expect(
            found.count == 1 && found[0].url.contains("line 2 has") && PhotoURL.check(found[0].url) != nil, "\(found)")
    }

    // MARK: Comments and separators

    private static let tables: [(String, String, [String])] = [
        ("# exported\n# today\nname,url\nCat,http://a/1\n", "", ["Cat=http://a/1"]),
        ("#name,url\nCat,http://a/1\n", "", ["Cat=http://a/1"]),
        ("# exported\n\n#url\tname\nhttp://a/1\tCat\n", "", ["Cat=http://a/1"]),
        ("# a comment\nCat,http://a/1.jpg\nDog,http://a/2.jpg\n", "", ["Cat=http://a/1.jpg", "Dog=http://a/2.jpg"]),
        ("# a comment\nurl\nhttp://a/1,2.jpg\n", "", ["1,2.jpg=http://a/1,2.jpg"]),
        ("# a comment\n{\"url\":\"http://a/1\",\"w\":NaN}\n", "", ["1=http://a/1"]),
        ("name|url\nCat|http://a/1\n", "", ["Cat=http://a/1"]), ("Cat|http://a/1.jpg\n", "", ["Cat=http://a/1.jpg"]),
        ("http://a/1.jpg|Cat\n", "", ["Cat=http://a/1.jpg"]),
        ("http://a/1|Cat\nhttp://a/2|Dog\n", "", ["Cat=http://a/1", "Dog=http://a/2"]),
        ("http://a/1;Cat Tom\nhttp://a/2;Dog\n", "", ["Cat Tom=http://a/1", "Dog=http://a/2"]),
        (
            "http://a/1.jpg;Cat, big\nhttp://a/2.jpg;Dog, old\n", "x.csv",
            ["Cat, big=http://a/1.jpg", "Dog, old=http://a/2.jpg"]
        ),
        ("Cat | http://a/1.jpg | 7\nDog | http://a/2.jpg | 8\n", "", ["Cat =http://a/1.jpg", "Dog =http://a/2.jpg"]),
        // One URL per line.
        ("http://a/x?b=1|2\nhttp://a/x?b=3|4\n", "", ["x=http://a/x?b=1|2", "x=http://a/x?b=3|4"]),
        ("http://a/1;v=2\nhttp://a/2;v=3\n", "", ["1;v=2=http://a/1;v=2", "2;v=3=http://a/2;v=3"]),
        (
            "http://a/Smith, John.jpg\nhttp://a/Doe, Ann.jpg\n", "",
            ["Smith, John.jpg=http://a/Smith, John.jpg", "Doe, Ann.jpg=http://a/Doe, Ann.jpg"]
        ),
    ]

    @Test(arguments: tables.indices) func commentsAndSeparatorsAreFound(number: Int) throws {
        let (text, name, expected) = Self.tables[number]
        #expect(try lines(of: text, named: name) == expected)
    }

    @Test(arguments: [
        ("{\"url\":\"http://a/1\",\"w\":NaN}\n{\"w\":-Infinity,\"url\":\"http://a/2\"}\n{\"url\":NaN}\n", "x.jsonl"),
        ("[{\"url\":\"http://a/1\",\"w\":Infinity}, {\"w\":[NaN,-Infinity],\"url\":\"http://a/2\"}, NaN]", "x.json"),
    ])
    func numbersThatPythonWritesAreRead(text: String, name: String) throws {
        let urls = try entries(of: Array(text.utf8), named: name).map(\.url)
        #expect(urls.count == 3 && urls[..<2] == ["http://a/1", "http://a/2"])
        #expect(urls[2].contains("NaN in place of a URL"))
    }

    @Test func wordsThatAreNoNumbersAreNotJSON() {
        #expect(failure(of: Array("[Nan]".utf8))?.code == .damaged)
        #expect(failure(of: Array("[\"http://a/1\", Infinit]".utf8))?.code == .damaged)
    }

    // MARK: Text that is not UTF-8

    @Test func percentEncodedBytesAreNotTextOfTheList() {
        func conversions(_ name: [UInt8], _ url: String) -> (Int, String) {
            var reading = EntryReading(.none)
            var found = ""
            name.withUnsafeBytes { name in
                Array(url.utf8).withUnsafeBytes {
                    reading.read(name, $0) { found = PhotoListEntry(name: $0, url: $1).name }
                }
            }
            return (reading.converted, found)
        }
        #expect(conversions(Array("caf".utf8) + [0xe9], "http://a/caf%E9") == (0, "café"))
        #expect(conversions([0xe9], "http://a/caf%E9") == (1, "é"))
    }

    @Test(arguments: [
        "a.jpg", "./a.jpg", "../a.jpg", "sub/a.jpg", "..\\a.jpg", ".\\a.jpg", "sub\\a.jpg", "//h/a.jpg", "\\\\h\\a.jpg",
    ])
    func relativePathsInAListOfSomebodyElseAreRefused(path: String) {
        var reading = EntryReading(.absolute)
        var urls: [String] = []
        for text in [path, "/photos/a.jpg"] {
            Array(text.utf8).withUnsafeBytes { bytes in
                reading.read(bytes, bytes) { urls.append(PhotoListEntry(name: $0, url: $1).url) }
            }
        }
        #expect(urls == [path, "file:///photos/a.jpg"] && PhotoURL.check(path)?.reason == .notAURL)
    }
}
