import DarkroomTestSupport
import ErrorExpectations
import Foundation
import FuzzSupport
import Testing

@testable import DarkroomHTTP

struct MultipartFormTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func parse(_ body: [UInt8], boundary: String = "b", maxFieldBytes: Int = 1000) throws -> MultipartForm {
        let file = try #require(UploadedFile(in: scratch.path))
        #expect(body.withUnsafeBytes { file.append($0) })
        file.close()
        return try MultipartForm(file, boundary: boundary, maxFieldBytes: maxFieldBytes)
    }

    private func part(_ disposition: String, _ content: String) -> String {
        "--b\r\nContent-Disposition: form-data; \(disposition)\r\n\r\n\(content)\r\n"
    }

    private var form: String {
        part("name=\"a\"", "1") + part("name=\"file\"; filename=\"../\u{fc} \\\"x\\\".csv\"", "--b\r\n-- b--\r\n--")
            + part("name=a; other=\"c;d\"", "") + part("name=\"none\"; filename=\"\"", "") + "--b--\r\n"
    }

    @Test func fieldsAndFilesAreFound() throws {
        let text = form.replacing("--b\r\n-- b--\r\n--", with: "-\r\n-- b--\r\n--")
        let form = try parse(Array(text.utf8))
        #expect(form.fields.map(\.name) == ["a", "a"])
        #expect(form.fields.map(\.value) == ["1", ""])
        let file = try #require(form.files.first)
        #expect(form.files.count == 1)
        #expect(file.field == "file")
        #expect(file.name == "../\u{fc} \"x\".csv")
        #expect(FileManager.default.contents(atPath: file.file.path) == Data("-\r\n-- b--\r\n--".utf8))
    }

    @Test func filesAreRemovedWithTheForm() throws {
        do { _ = try parse(Array(part("name=\"f\"; filename=\"x\"", "abc").utf8) + Array("--b--".utf8)) }
        #expect(try scratch.contents("") == [])
        // A form whose second part is damaged.
        #expect(throws: MultipartForm.Failure.self) {
            try parse(Array(part("name=\"f\"; filename=\"x\"", "abc").utf8) + Array("--b\r\n".utf8))
        }
        #expect(try scratch.contents("") == [])
    }

    @Test func formMayHave200Parts() throws {
        let form = try parse(Array((String(repeating: part("name=\"a\"", ""), count: 200) + "--b--").utf8))
        #expect(form.fields.count == 200)
    }

    @Test func largeFormsAreRefused() throws {
        let field = part("name=\"a\"", String(repeating: "x", count: 600))
        for text in [
            field + field + "--b--", String(repeating: part("name=\"a\"", ""), count: 201) + "--b--",
            part("name=\"\(String(repeating: "x", count: 5000))\"", "") + "--b--",
        ] {
            let failure = try requireError(MultipartForm.Failure.self) { try parse(Array(text.utf8)) }
            #expect(!failure.isOfSystem)
        }
        for boundary in ["", String(repeating: "b", count: 71)] {
            #expect(throws: MultipartForm.Failure.self) { try parse(Array(form.utf8), boundary: boundary) }
        }
    }

    /// No damaged form crashes the parser, and no file of one remains.
    @Test func damagedFormsDoNotCrash() throws {
        let run = FuzzRun("forms", count: 2000)
        print(run)
        let original = Array(form.utf8)
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var mutator = ByteMutator(SeededGenerator(seed: seed))
            // Any failure is allowed.
            _ = try? parse(mutator.mutate(original, with: Array("\r\n--b\r\n\r\n--b--".utf8)))
        }
        #expect(try scratch.contents("") == [])
    }

    /// No text of a header field crashes the parser.
    @Test func damagedFieldsDoNotCrash() {
        let run = FuzzRun("content types", count: 5000)
        print(run)
        let original = Array("form-data; name=\"a\\\"b\"; filename = x; charset=utf-8;;=;".utf8)
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var mutator = ByteMutator(SeededGenerator(seed: seed))
            let text = String(decoding: mutator.mutate(original), as: UTF8.self)
            let field = ContentTypeField(text)
            #expect(!field.name.contains(";"))
        }
    }
}
