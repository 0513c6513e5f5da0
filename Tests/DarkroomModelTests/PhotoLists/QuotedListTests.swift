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

    // MARK: Quoted fields that would swallow rows

    private static let swallowed: [(String, [String])] = [
        // Paths.
        (
            "file,caption\n/a.jpg,\"Hello\n/b.jpg,world\n/c.jpg,\"end\n/d.jpg,last\n",
            ["/a.jpg", "/b.jpg", "/c.jpg", "/d.jpg"]
        ),
        (
            "file\tcaption\n/a.jpg\t\"Hi\n/b.jpg\n/c.jpg\tfoo\" bar\n/d.jpg\tx\n",
            ["/a.jpg", "/b.jpg", "/c.jpg", "/d.jpg"]
        ),
        // One line has all columns.
        (
            "url,caption\nhttp://a/1,\"Oh, no\nhttp://a/2,said \"she\"\nhttp://a/3,x\n",
            ["http://a/1", "http://a/2", "http://a/3"]
        ),
        ("url;caption\nhttp://a/1;\"Oh\nhttp://a/2\nhttp://a/3;end\"\n", ["http://a/1", "http://a/2", "http://a/3"]),
        // No line has the right number of fields, but the quotation marks are not at the ends of fields.
        (
            "url,caption\nhttp://a/1.jpg,\"Oh, no\nhttp://a/2.jpg,a, b, \"she\" c\nhttp://a/3.jpg,x\n",
            ["http://a/1.jpg", "http://a/2.jpg", "http://a/3.jpg"]
        ),
        // The closing quotation mark opens a field of another row, which has quoted fields.
        ("url,caption\nhttp://a/1,\"Oh\n\"http://a/2\",x\nhttp://a/3,x\n", ["http://a/1", "http://a/2", "http://a/3"]),
        // In the header, and in the first row of a table without a header.
        (
            "url,\"caption\nhttp://a/1,x\nhttp://a/2,\"y\nhttp://a/3,z\n",
            ["http://a/1", "http://a/2", "http://a/3"]
        ),
        (
            "\"What a day,http://a/1\nplain,http://a/2\n\"He said,http://a/3\nx,http://a/4\n",
            ["http://a/1", "http://a/2", "http://a/3", "http://a/4"]
        ),
    ]

    @Test(arguments: swallowed.indices) func quotedFieldSwallowsNoRow(number: Int) throws {
        let (text, urls) = Self.swallowed[number]
        #expect(try entries(of: Array(text.utf8), named: "x.csv").map(\.url) == urls)
    }

    @Test(arguments: [
        "url,caption\nhttp://a/1,\"see\nhttp://b/x.jpg\nfor more\"\nhttp://a/2,x\n",
        "caption,url\n\"see\nhttp://b/x.jpg\nfor more\",http://a/1\nx,http://a/2\n",
        "caption,url\n\"a \"\"b\"\"\nc, d\",http://a/1\nx,http://a/2\n",
        "http://a/1,\"see\nhttp://b/x.jpg\nfor more\"\nhttp://a/2,\"two\nlines\"\n",
    ])
    func linesOfAQuotedTextAreNotRows(text: String) throws {
        #expect(try entries(of: Array(text.utf8), named: "x.csv").map(\.url) == ["http://a/1", "http://a/2"])
    }

    @Test func urlInAQuotedTextIsTold() throws {
        let found = try parsed("url,caption\nhttp://a/1,\"see\nhttp://b/x.jpg\nfor more\"\n")
        #expect(found.remark?.hasPrefix("line 2: a quoted field has line ends, and one of its lines has a URL") == true)
    }

    // MARK: Tabs

    private static let tabs: [(String, [String])] = [
        // The last or the first field is empty.
        (
            "http://a/0\tx\t\nhttp://a/1\t\"a\t1\nhttp://a/2\ty\t\nhttp://a/3\t\"b\t1\n",
            ["x=http://a/0", "\"a=http://a/1", "y=http://a/2", "\"b=http://a/3"]
        ),
        ("\thttp://a/0\nA\thttp://a/1\n", ["0=http://a/0", "A=http://a/1"]),
        ("\tname\turl\n0\tA\thttp://a/0\n", ["A=http://a/0"]),
        ("sep=\t\nname\turl\nA\thttp://a/0\n", ["A=http://a/0"]),
        // Tabs around URLs in plain text.
        ("\thttp://a/0\nhttp://a/1\t\nhttp://a/2\n", ["0=http://a/0", "1=http://a/1", "2=http://a/2"]),
        ("\t/b/0.jpg\n/b/1.jpg\t\n/b/2.jpg\n", ["0.jpg=/b/0.jpg", "1.jpg=/b/1.jpg", "2.jpg=/b/2.jpg"]),
        // A tab is never a part of a URL.
        (
            "A\thttp://a/0.jpg?x=1\tz\nB\thttp://a/1.jpg\t\nC\thttp://a/2.jpg\t\n",
            ["A=http://a/0.jpg?x=1", "B=http://a/1.jpg", "C=http://a/2.jpg"]
        ),
        ("name\turl\nA\thttp://a/0?x=1\tz\n", ["A=http://a/0?x=1"]),
        ("name\turl\nA\thttp://a/0\tb.jpg\nB\thttp://a/1\n", ["A=http://a/0", "B=http://a/1"]),
        ("url\tname\nhttp://a/0?id=1\tA\t b\nhttp://a/1\tB\n", ["A\t b=http://a/0?id=1", "B=http://a/1"]),
    ]

    @Test(arguments: tabs.indices) func fieldsOfTSVAreKept(number: Int) throws {
        let (text, expected) = Self.tabs[number]
        #expect(try lines(of: text) == expected)
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
        (
            "url,name\nhttp://a/x?id=1,Cat,\nhttp://a/x?id=2,Dog\n",
            ["Cat=http://a/x?id=1", "Dog=http://a/x?id=2"]
        ),
        ("url,name,id\nhttp://a/1,2.jpg,Cat,\nhttp://a/3.jpg,Dog,8\n", ["Cat=http://a/1,2.jpg", "Dog=http://a/3.jpg"]),
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
        (
            "http://a/w_1,h_2/c.jpg,Cat\nhttp://a/w_1,h_2/d.jpg,Dog\nhttp://a/e.jpg,Emu\n",
            ["Cat=http://a/w_1,h_2/c.jpg", "Dog=http://a/w_1,h_2/d.jpg", "Emu=http://a/e.jpg"]
        ),
        (
            "Cat,http://a/0,0,9,9/full/c.jpg,7\nDog,http://a/0,0,9,9/full/d.jpg,8\n",
            ["Cat=http://a/0,0,9,9/full/c.jpg", "Dog=http://a/0,0,9,9/full/d.jpg"]
        ),
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

    @Test func fieldsThatMayBePartsOfTheURLsAreTold() throws {
        func guess(_ text: String) throws -> String? {
            var parser = PhotoListParser(listName: "x.csv")
            _ = try Array(text.utf8).withUnsafeBytes { try parser.examine($0, isLast: true) }
            return parser.guess
        }
        #expect(try guess("http://a/w_1,h_2/c.jpg,Cat\n")?.contains("column 1 are joined") == true)
        #expect(try guess("http://a/1,c.jpg,Cat\n")?.contains("column 1 are not joined") == true)
        #expect(try guess("http://a/1.jpg,Cat\nhttp://a/2,c.jpg\n")?.contains("column 1 are not joined") == true)
        #expect(try guess("http://a/1.jpg,c.jpg,Cat\n") == nil)
        #expect(try guess("Cat,http://a/1.jpg\nDog,http://a/2.jpg\nApe,http://a/3,c.jpg\n") == nil)
    }

    /// A row with many fields, which takes hours if the time grows with the square of their number.
    @Test(.timeLimit(.minutes(5)), arguments: ["name,url", "name,url,id"], [",", ", a", ",.jpg", ",a?"])
    func rowWithManyFieldsTakesLinearTime(header: String, field: String) throws {
        for count in [60_000, 1_000_000] {
            let row = "Cat,http://a/" + String(repeating: field, count: count / field.utf8.count)
            let found = try entries(of: Array("\(header)\n\(row)\nDog,http://a/2.jpg\n".utf8), named: "x.csv")
            #expect(found.count == 2 && found.last?.url == "http://a/2.jpg")
        }
    }

    // MARK: Comments and separators

    private static let tables: [(String, String, [String])] = [
        ("# exported\n# today\nname,url\nCat,http://a/1\n", "", ["Cat=http://a/1"]),
        ("#name,url\nCat,http://a/1\n", "", ["Cat=http://a/1"]),
        ("# exported\n\n#url\tname\nhttp://a/1\tCat\n", "", ["Cat=http://a/1"]),
        ("# a comment\nCat,http://a/1.jpg\nDog,http://a/2.jpg\n", "", ["Cat=http://a/1.jpg", "Dog=http://a/2.jpg"]),
        ("# a comment\nurl\nhttp://a/1,2.jpg\n", "", ["1,2.jpg=http://a/1,2.jpg"]),
        ("# a comment\n{\"url\":\"http://a/1\",\"w\":NaN}\n", "", ["1=http://a/1"]),
        ("sep=;\n# a comment\nname;url\nCat;http://a/1\n", "", ["Cat=http://a/1"]),
        // A quotation mark in a comment.
        (
            "# a lens, \"macro\nname,url\nCat,http://a/1\nDog,\"http://a/2\"\nApe,http://a/3\n", "",
            ["Cat=http://a/1", "Dog=http://a/2", "Ape=http://a/3"]
        ),
        ("# \"a\n\n#\"b\nCat,http://a/1\nDog,\"http://a/2\"\n", "x.csv", ["Cat=http://a/1", "Dog=http://a/2"]),
        // Rows that begin with #.
        (
            "# a comment\n#sunset,http://a/1.jpg\n#beach,http://a/2.jpg\ncity,http://a/3.jpg\n", "",
            ["#sunset=http://a/1.jpg", "#beach=http://a/2.jpg", "city=http://a/3.jpg"]
        ),
        ("#1,http://a/1\n#2,http://a/2\n", "", ["#1=http://a/1", "#2=http://a/2"]),
        ("# x\n#id\turl\n#1\thttp://a/1\n2\thttp://a/2\n", "", ["#1=http://a/1", "2=http://a/2"]),
        ("#sunset,photos/1.jpg\ncity,photos/2.jpg\n", "", ["#sunset=photos/1.jpg", "city=photos/2.jpg"]),
        ("# see http://a/\nhttp://a/1\n#http://a/2\n", "", ["1=http://a/1"]),
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

    @Test func commentsMayBeLongerThanTheWindow() throws {
        let comments = "\u{feff}" + String(repeating: "# a comment, \"long\n\r\n", count: 8000)
        for (table, name) in [("name,url\nCat,http://a/1\n", "Cat"), ("http://a/1\n", "1"), ("#7,http://a/1\n", "#7")] {
            for step in [1000, ListDetector.windowBytes, .max] {
                let found = try entries(of: Array((comments + table).utf8), step: step)
                #expect(found == [PhotoListEntry(name: name, url: "http://a/1")], "\(step)")
            }
        }
    }

    /// The output of `ls`.
    @Test(arguments: ["README.md\nsub\n", "a b.txt\n", "x, y\n", ""]) func namesOfFilesAreText(others: String) throws {
        let found = try entries(of: Array((others + "a, 1.jpg\nb.jpg\n").utf8)).map(\.url)
        #expect(found.suffix(2) == ["a, 1.jpg", "b.jpg"] && found.count == 1 + others.count { $0 == "\n" } + 1)
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
