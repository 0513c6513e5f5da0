import DarkroomRecipes
import Testing

@testable import DarkroomImaging

@Suite struct ReadableFormatsTests {
    @Test func everyFormatOfDebianIsReadable() {
        #expect(Imaging.readableFormats == Set(ImageFormat.allCases))
    }

    @Test func acceptNamesTheReadableFormats() {
        #expect(Imaging.accept([.jpeg, .heic]) == "image/jpeg,image/heic,image/heif,image/*;q=0.8,*/*;q=0.5")
        #expect(Imaging.accept([]) == "image/*;q=0.8,*/*;q=0.5")
    }
}
