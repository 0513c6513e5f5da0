import DarkroomModel
import DarkroomStorage
import ErrorExpectations
import Testing

@Suite struct FileNameTemplateTests {
    let nameOnly = try! FileNameTemplate("{name}", namesAreUnique: true)  // a valid template
    let indexAndName = try! FileNameTemplate("{index}-{name}", namesAreUnique: false)

    @Test(arguments: [
        (0, "a", "a.jpg", "000000-a.jpg"), (1, "a.jpg", "a.jpg.jpg", "000001-a.jpg"),
        (2, "A.JPEG", "A.JPEG.jpg", "000002-A.jpg"),
        (9999, "x.heif", "x.heif.jpg", "009999-x.jpg"), (10_000, "x", "00001/x.jpg", "00001/010000-x.jpg"),
        (12_345_678, "x", "01234/x.jpg", "01234/12345678-x.jpg"),
        (3, "Mother & Child", "Mother %26 Child.jpg", "000003-Mother %26 Child.jpg"),
        (
            4, "Maya Ruines in Copán Ruinas 2", "Maya Ruines in Copán Ruinas 2.jpg",
            "000004-Maya Ruines in Copán Ruinas 2.jpg"
        ),
        (5, "../../etc/passwd", "%2E.%2F..%2Fetc%2Fpasswd.jpg", "000005-%2E.%2F..%2Fetc%2Fpasswd.jpg"),
        (6, "..", "%2E..jpg", "000006-%2E..jpg"), (7, ".jpg", "%2Ejpg.jpg", "000007-%2Ejpg.jpg"),
        (8, "a\0b", "a%00b.jpg", "000008-a%00b.jpg"),
        (9, "%2e", "%252e.jpg", "000009-%252e.jpg"), (10, "", "~.jpg", "000010-.jpg"),
        (11, "~", "%7E.jpg", "000011-%7E.jpg"),
        (12, "a\nb\u{1b}[0m", "a%0Ab%1B%5B0m.jpg", "000012-a%0Ab%1B%5B0m.jpg"),
        (14, "-rf", "%2Drf.jpg", "000014-%2Drf.jpg"), (15, "a-b", "a-b.jpg", "000015-a-b.jpg"),
        (16, "a\u{9b}31m\u{85}", "a%C2%9B31m%C2%85.jpg", "000016-a%C2%9B31m%C2%85.jpg"),
        (17, "gpj.\u{202e}x", "gpj.%E2%80%AEx.jpg", "000017-gpj.%E2%80%AEx.jpg"),
        (18, "\u{2028}\u{2029}", "%E2%80%A8%E2%80%A9.jpg", "000018-%E2%80%A8%E2%80%A9.jpg"),
        (
            19, "\u{61c}\u{200e}\u{200f}\u{2066}\u{2069}\u{feff}",
            "%D8%9C%E2%80%8E%E2%80%8F%E2%81%A6%E2%81%A9%EF%BB%BF.jpg",
            "000019-%D8%9C%E2%80%8E%E2%80%8F%E2%81%A6%E2%81%A9%EF%BB%BF.jpg"
        ),
        (20, "\u{a0}–👩\u{200d}🚀", "\u{a0}–👩\u{200d}🚀.jpg", "000020-\u{a0}–👩\u{200d}🚀.jpg"),
        (13, "photo.txt", "photo.txt.jpg", "000013-photo.txt.jpg"),
    ]) func makesPaths(index: Int, name: String, path: String, numbered: String) {
        #expect(nameOnly.path(index: index, name: name, ending: "jpg") == path)
        #expect(indexAndName.path(index: index, name: name, ending: "jpg") == numbered)
    }

    @Test func encodesInvalidUTF8() {
        for (name, safe) in [
            ([0xe9], "%E9"), ([0xc3, 0xa9], "é"), ([0xc0, 0xaf], "%C0%AF"), ([0xed, 0xa0, 0x80], "%ED%A0%80"),
            ([0xf0, 0x9f, 0x98], "%F0%9F%98"),
            ([0xf0, 0x9f, 0x98, 0x80], "😀"), ([0xf5, 0x80, 0x80, 0x80], "%F5%80%80%80"),
            ([0xe0, 0x80, 0x80], "%E0%80%80"),
        ] as [([UInt8], String)] {
            #expect(nameOnly.path(index: 0, name: name, ending: "png") == safe + ".png")
        }
    }

    @Test func cutsLongNamesBetweenCharacters() {
        let digits = String(repeating: "0123456789", count: 20)
        #expect(nameOnly.path(index: 0, name: digits, ending: "jpg") == digits + ".jpg")
        for name in [digits + "x", String(repeating: "é", count: 150), String(repeating: "/", count: 150)] {
            let path = nameOnly.path(index: 0, name: name, ending: "jpg")
            let stem = path.dropLast(4)
            #expect(stem.utf8.count <= 200 && stem.utf8.count > 190)
            #expect(stem.dropLast(32).last == "~")
            #expect(
                !path.contains("\u{fffd}") && !stem.dropLast(33).hasSuffix("%") && !stem.dropLast(33).hasSuffix("%2"))
            #expect(indexAndName.path(index: 5_000_000, name: name, ending: "jpg").utf8.count <= 210)
        }
        // The suffix is the first half of the SHA-256 of the 201 bytes, computed with sha256sum.
        #expect(
            nameOnly.path(index: 0, name: digits + "x", ending: "jpg").hasSuffix(
                "~3525d32c5fc6d38f74a43b1be174fdf6.jpg"))
    }

    @Test(arguments: [
        ("photo", "neither"), ("{name}", "{index}-{name}"), ("a/{index}", "separator"), ("a\\{index}", "separator"),
        ("{index}{nme}", "{nme}"),
        ("{index}}", "}"), (".{index}", "dot"), (".\u{301}{index}", "dot"), ("{index}\n", "control"),
        ("{index}\u{202e}", "control"), ("-{index}", "option"),
        ("{index}{index}", "twice"),
        ("{index}" + String(repeating: "x", count: 101), "101 bytes"), ("", "neither"),
    ]) func rejectsInvalidTemplates(text: String, found: String) {
        let problem = expectError(FileNameTemplate.Problem.self) {
            try FileNameTemplate(text, namesAreUnique: false)
        }
        #expect(problem?.description.contains(found) == true, "\(problem?.description ?? "")")
    }

    @Test func replacesTheEndingIfTheStemsAreUnique() throws {
        let standard = FileNameTemplate.standard(namesAreDistinct: true, stemsAreDistinct: true)
        let template = try FileNameTemplate(standard, namesAreUnique: true, stemsAreUnique: true)
        for (name, path) in [("x.jpg", "x.jpg"), ("x.PNG", "x.jpg"), ("x", "x.jpg"), (".jpg", "%2Ejpg.jpg")] {
            #expect(template.path(index: 0, name: name, ending: "jpg") == path)
        }
        #expect(throws: FileNameTemplate.Problem.self) {
            try FileNameTemplate("{stem}", namesAreUnique: true, stemsAreUnique: false)
        }
        #expect(throws: FileNameTemplate.Problem.self) { try FileNameTemplate("{stem}{name}", namesAreUnique: true) }
    }

    @Test func keepsLiteralText() throws {
        let template = try FileNameTemplate("sepia {name} (no {index})", namesAreUnique: false)
        #expect(template.path(index: 7, name: "Cat.png", ending: "webp") == "sepia Cat (no 000007).webp")
    }

    /// Found by fuzzing with seed 972315: the file name for an empty name began with a dot.
    @Test func fileOfAnEmptyNameIsNotHidden() throws {
        let template = try FileNameTemplate("{name}.large", namesAreUnique: true)
        #expect(template.path(index: 0, name: "", ending: "jpg") == "~.large.jpg")
        #expect(template.path(index: 0, name: "~", ending: "jpg") == "%7E.large.jpg")
    }

    /// Both file names are a1000001.jpg. Only their folders differ.
    @Test func distinguishesAnIndexFromDigitsOfAName() throws {
        let template = try FileNameTemplate("{name}{index}", namesAreUnique: false)
        #expect(template.path(index: 1, name: "a1", ending: "jpg") == "a1000001.jpg")
        #expect(template.path(index: 1_000_001, name: "a", ending: "jpg") == "00100/a1000001.jpg")
    }

    @Test func defaultHasAnIndexUnlessTheNamesAreDistinct() {
        #expect(FileNameTemplate.standard(namesAreDistinct: true) == "{name}")
        #expect(FileNameTemplate.standard(namesAreDistinct: false) == "{index}-{name}")
    }
}
