import DarkroomModel
import Testing

@testable import DarkroomLists

/// Rows with more fields than the table has columns, because a field contains delimiters and is not in quotes.
@Suite struct RowAlignmentTests {
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
            return parser.guess?.problem
        }
        #expect(try guess("http://a/w_1,h_2/c.jpg,Cat\n")?.contains("column 1 are joined") == true)
        #expect(try guess("http://a/1,c.jpg,Cat\n")?.contains("column 1 are not joined") == true)
        #expect(try guess("http://a/1.jpg,Cat\nhttp://a/2,c.jpg\n")?.contains("column 1 are not joined") == true)
        #expect(try guess("http://a/1.jpg,c.jpg,Cat\n") == nil)
        #expect(try guess("Cat,http://a/1.jpg\nDog,http://a/2.jpg\nApe,http://a/3,c.jpg\n") == nil)
    }

    /// A row with many fields. If the time grew with the square of their number, the row would take far longer than the
    /// time limit.
    @Test(.timeLimit(.minutes(5)), arguments: ["name,url", "name,url,id"], [",", ", a", ",.jpg", ",a?"])
    func rowWithManyFieldsTakesLinearTime(header: String, field: String) throws {
        for count in [60_000, 300_000] {
            let row = "Cat,http://a/" + String(repeating: field, count: count / field.utf8.count)
            let found = try entries(of: Array("\(header)\n\(row)\nDog,http://a/2.jpg\n".utf8), named: "x.csv")
            #expect(found.count == 2 && found.last?.url == "http://a/2.jpg")
        }
    }
}
