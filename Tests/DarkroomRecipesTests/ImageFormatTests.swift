import DarkroomRecipes
import Testing

@Suite struct ImageFormatTests {
    @Test func everyEndingNamesItsFormat() {
        for format in ImageFormat.allCases { #expect(ImageFormat(ending: format.fileExtension) == format) }
        #expect(ImageFormat(ending: "JPEG") == .jpeg)
        #expect(ImageFormat(ending: "heif") == .heic)
        #expect(ImageFormat(ending: "bmp") == nil)
        #expect(ImageFormat.endings.allSatisfy { ImageFormat(ending: $0) != nil })
    }
}
