import DarkroomStorage
import DarkroomModel
import Testing

@testable import DarkroomStorage

@Suite struct BatchOutputTests {
    /// In Swift, a slash and a following combining character are one `Character`; for the kernel, the slash is still a
    /// separator.
    @Test func findsTheFolderOfANameThatBeginsWithACombiningCharacter() throws {
        let template = try FileNameTemplate("{stem}", namesAreUnique: true)
        let output = BatchOutput(
            BatchID("batch"), BatchOptions(), template, place: nil, originals: nil,
            files: ["", "small"].map { name in
                BatchOutput.File(rendition: name, filters: "none", isCustom: false, endings: { _ in ["jpg"] })
            })
        let record = PhotoRecord(index: 10_000, name: "\u{301}x.jpg", url: "http://photos.example/x")
        #expect(output.folders(of: [record]) == ["00001", "small/00001"])
    }
}
