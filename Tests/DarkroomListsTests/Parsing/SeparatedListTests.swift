import Testing

@testable import DarkroomLists

@Suite struct SeparatedListTests {
    static let lists: [(String, String, [String])] = [
        ("name,url\nCat,http://a/1.jpg\n", "", ["Cat=http://a/1.jpg"]),
        ("URL\tTitle\r\nhttp://a/1.jpg\tCat\r\n", "", ["Cat=http://a/1.jpg"]),
        ("Name;Image URL\nCat;http://a/1.jpg", "", ["Cat=http://a/1.jpg"]),
        ("\u{feff}id,image_url,name\n7,http://a/1.jpg,Cat\n", "", ["Cat=http://a/1.jpg"]),
        ("thumbnail_url,url\nhttp://a/t.jpg,http://a/1.jpg\n", "", ["1.jpg=http://a/1.jpg"]),
        ("image,link\ncat.jpg,http://a/1.jpg\n", "", ["1.jpg=http://a/1.jpg"]),
        ("url\nhttp://a/1,2.jpg\n\nNO URL\n", "", ["1,2.jpg=http://a/1,2.jpg", "NO URL=NO URL"]),
        ("\"url\"\n\"http://a/1,2.jpg\"\n", "", ["1,2.jpg=http://a/1,2.jpg"]),
        // Without a header, the first row that contains a URL determines the order of the columns.
        ("Cat,http://a/1.jpg\nDog,http://a/2.jpg\n", "", ["Cat=http://a/1.jpg", "Dog=http://a/2.jpg"]),
        ("Ape,NO URL\nDog,http://a/2.jpg\n", "", ["Ape=NO URL", "Dog=http://a/2.jpg"]),
        ("title,where it is\nDog,http://a/2.jpg\n", "", ["Dog=http://a/2.jpg"]),
        ("http://a/1.jpg\tCat\n", "", ["Cat=http://a/1.jpg"]),
        ("http://a/1.jpg,Cat\nhttp://a/2.jpg,Dog\n", "", ["Cat=http://a/1.jpg", "Dog=http://a/2.jpg"]),
        ("http://a/1?x,Cat\n", "photos.csv", ["Cat=http://a/1?x"]),
        ("http://a/1?x,Cat\n", "photos.csv.gz", ["Cat=http://a/1?x"]),
        ("\"http://a/1?x\",Cat\n", "", ["Cat=http://a/1?x"]),
        // Quoted fields.
        (
            "name,url\n\"Cat, \"\"Tom\"\"\", \"http://a/1.jpg\" \n\"two\nlines\",http://a/2.jpg\n5\" print,http://a/3.jpg\n",
            "",
            ["Cat, \"Tom\"=http://a/1.jpg", "two\nlines=http://a/2.jpg", "5\" print=http://a/3.jpg"]
        ),
        (
            "name,url\n\"a\"b,http://a/1\n\"\",http://a/2\n\"\"\"\",http://a/3", "",
            ["ab=http://a/1", "2=http://a/2", "\"=http://a/3"]
        ),
        // The first line sets the separator.
        ("sep=;\r\nTitel;Adresse\r\nCat;http://a/1,2.jpg\r\n", "", ["Cat=http://a/1,2.jpg"]),
        // A header without a known column name, and a first row without a URL.
        (
            "Wat;Waar\nCat;http://a/1.jpg\nDog;http://a/2.jpg\n", "x.csv",
            ["Cat=http://a/1.jpg", "Dog=http://a/2.jpg"]
        ),
        (
            "Ape,none\nCat,http://a/1.jpg\nDog,http://a/2.jpg\n", "x.csv",
            ["Ape=none", "Cat=http://a/1.jpg", "Dog=http://a/2.jpg"]
        ),
        // Paths in place of URLs.
        ("name,file_url\nCat,/photos/1.jpg\n", "", ["Cat=/photos/1.jpg"]),
        ("Cat,photos/1.jpg\nDog,photos/2.jpg\n", "", ["Cat=photos/1.jpg", "Dog=photos/2.jpg"]),
        // Rows that are too short or empty.
        ("name,url\nCat\n,\n,,\nDog,\n", "", ["Cat=", "=", "=", "Dog="]),
        ("name,url\n\n  \nCat,http://a/1\n", "", ["Cat=http://a/1"]),
    ]

    @Test(arguments: lists.indices) func findsColumnsAndFields(number: Int) throws {
        let (text, name, expected) = Self.lists[number]
        #expect(try lines(of: text, named: name) == expected)
    }

    private func read(_ text: String, _ columns: ListColumns) throws -> [String] {
        var parser = PhotoListParser(listName: "x.csv", columns: columns)
        var found: [String] = []
        try Array(text.utf8).withUnsafeBytes { bytes in
            try parser.parse(bytes, isLast: true) {
                let entry = PhotoListEntry($0)
                found.append("\(entry.name)=\(entry.url)")
            }
        }
        return found
    }

    @Test func usesTheColumnsThatTheUserNames() throws {
        let table = "a,b,c,url\nCat,http://a/1,Tom,http://a/x\n"
        #expect(try read(table, ListColumns(url: "b", name: "C")) == ["Tom=http://a/1"])
        #expect(try read(table, ListColumns(url: "2", name: "1")) == ["Cat=http://a/1"])
        #expect(try read(table, ListColumns(name: "a")) == ["Cat=http://a/x"])
        #expect(try read("Cat,http://a/1\n", ListColumns(url: "2", name: "1")) == ["Cat=http://a/1"])
        do {
            _ = try read(table, ListColumns(url: "d"))
            Issue.record("a missing column was accepted")
        } catch {
            #expect("\(error)".contains("no column \"d\" for the URLs") && "\(error)".contains("\"c\""), "\(error)")
        }
    }

    @Test func reportsTheGuessedColumns() throws {
        var parser = PhotoListParser(listName: "x.csv")
        let list = Array("Wat,Waar\nCat,http://a/1.jpg\nDog,http://a/2.jpg\n".utf8)
        _ = try list.withUnsafeBytes { try parser.examine($0, isLast: true) }
        #expect(parser.guess?.problem.contains("column 2 (\"Waar\") has the URLs, column 1 the names") == true)
    }

    @Test(arguments: [1, 1000, .max]) func refusesAQuoteThatIsNeverClosed(step: Int) throws {
        let start = "name,url\nCat,http://a/1\n\"Dog,http://a/2\n"
        for rest in ["", String(repeating: "Ape,http://a/3\n", count: step == 1 ? 0 : 200_000)] {
            let error = try #require(failure(of: Array((start + rest).utf8), step: step))
            #expect(error.code == .damaged)
            #expect(error.line == 3)
            #expect(error.description.contains("quote"))
        }
    }

    @Test func limitsTheLengthOfARecord() throws {
        let long = "\"" + String(repeating: "x\n", count: 500_000) + String(repeating: "y", count: 100_000) + "\""
        for step in [10_000, .max] {
            let found = try entries(of: Array("name,url\n\(long),http://a/1\nCat,http://a/2\n".utf8), step: step)
            #expect(found.map(\.url) == ["URL of 1100013 bytes, too long", "http://a/2"])
            #expect(found[0].name == "line 2")
        }
    }
}
