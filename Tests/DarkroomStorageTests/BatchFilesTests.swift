import DarkroomModel
import Testing

@testable import DarkroomStorage

@Suite struct BatchFilesTests {
    /// In Swift, a slash and a following combining character are one `Character`; for the kernel, the slash is still a
    /// separator.
    @Test func findsTheFolderOfANameThatBeginsWithACombiningCharacter() throws {
        let template = try FileNameTemplate("{stem}", namesAreUnique: true)
        let files = BatchFiles(
            BatchID("batch"), BatchOptions(), template,
            kinds: ["", "small"].map { name in
                BatchFiles.Kind(rendition: name, filters: "none", isCustom: false, endings: { _ in ["jpg"] })
            })
        let record = PhotoRecord(index: 10_000, name: "\u{301}x.jpg", url: "http://photos.example/x")
        #expect(files.folders(of: [record]) == ["00001", "small/00001"])
    }
}
