import Testing

@testable import DarkroomFiles

/// Paths are split at each slash byte, like in the kernel.
@Suite struct PathTests {
    @Test(
        arguments: [
            ("", []), ("a", ["a"]), ("/a//./b/", ["a", "b"]), ("a/\u{301}b", ["a", "\u{301}b"]), ("../a", ["..", "a"]),
            (".\u{301}/a", [".\u{301}", "a"]), ("/\u{301}", ["\u{301}"]),
        ] as [(String, [String])]) func components(path: String, found: [String])
    {
        #expect(Path.components(of: path).map { Array($0.utf8) } == found.map { Array($0.utf8) })
    }

    @Test(
        arguments: [
            ("a", nil, "a"), ("", nil, ""), ("/a", "", "a"), ("a/b/c", "a/b", "c"), ("a/", "a", ""),
            ("00001/\u{301}x", "00001", "\u{301}x"), ("e\u{301}/x", "e\u{301}", "x"),
        ] as [(String, String?, String)]) func split(path: String, folder: String?, name: String)
    {
        let found = Path.split(path)
        #expect(found.folder.map { Array($0.utf8) } == folder.map { Array($0.utf8) })
        #expect(found.name.utf8.elementsEqual(name.utf8))
    }

    @Test func joined() {
        #expect(Path.joined("", "a") == "a" && Path.joined("a", "b") == "a/b" && Path.joined("a/", "b") == "a/b")
        #expect(Path.joined("a", "\u{301}b").utf8.elementsEqual("a/\u{301}b".utf8))
    }

    @Test func absoluteAndClimbingPaths() {
        #expect(
            Path.isAbsolute("/a") && Path.isAbsolute("/\u{301}a") && !Path.isAbsolute("a/b") && !Path.isAbsolute(""))
        for path in ["..", "a/../b", "../\u{301}a", "a/.."] { #expect(Path.climbs(path), "\(path)") }
        for path in ["", "a..", "...", "..\u{301}/a", "a/.b"] { #expect(!Path.climbs(path), "\(path)") }
    }
}
