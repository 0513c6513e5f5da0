import Testing

@testable import DarkroomLists

/// Comments, separators, and lists of paths.
@Suite struct TableDetectorTests {
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
}
