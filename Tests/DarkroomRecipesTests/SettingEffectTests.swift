import ErrorExpectations
import Testing

@testable import DarkroomRecipes

@Suite struct SettingEffectTests {
    private static func problem(_ given: String, _ defaults: String = "") throws -> String? {
        let settings = try PhotoEncoding(parsing: given)
        let merged = settings.merged(over: try PhotoEncoding(parsing: defaults))
        do throws(ChainSyntaxError) {
            try merged.check(settings, in: settings.description)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(arguments: [
        ("format=webp; progressive", "character 14: progressive: no effect on webp; it is for jpeg and png"),
        (
            "format=auto:webp,gif; progressive",
            "character 23: progressive: no effect on webp and gif; it is for jpeg and png"
        ),
        ("format=jpeg; palette", "character 14: palette: no effect on jpeg; it is for png"),
        ("format=jpeg; lossless", "character 14: lossless: no effect on jpeg; it is for webp, avif, heic and jxl"),
        ("format=png; lossless", "character 13: lossless: no effect on png; it is for webp, avif, heic and jxl"),
        (
            "format=png; quality=70",
            "character 13: quality: no effect on png; it is for jpeg, webp, avif, heic and jxl, or for png with palette"
        ),
        ("format=gif; quality=70", "character 13: quality: no effect on gif; it is for jpeg, webp, avif, heic and jxl"),
        (
            "format=tiff; effort=3",
            "character 14: effort: no effect on tiff; it is for jpeg, png, webp, avif, jxl and gif"
        ),
        ("format=jxl; chroma=444", "character 13: chroma: no effect on jxl; it is for jpeg, webp, avif and heic"),
        (
            "format=png; max-bytes=200K",
            "character 13: max-bytes: no effect on png; it is for jpeg, webp, avif, heic and jxl"
        ),
        ("format=webp; background=red", "character 14: background: no effect on webp; it is for jpeg"),
        ("format=webp; quality=70; lossless", "character 14: quality: no effect with lossless; leave one of them out"),
        ("format=webp; lossless; chroma=444", "character 28: chroma: no effect with lossless; leave one of them out"),
        (
            "format=auto:webp,png; lossless; max-bytes=9K",
            "character 37: max-bytes: no effect with lossless; leave one of them out"
        ),
    ])
    func settingWithoutEffectIsRefused(settings: String, problem: String) throws {
        #expect(try Self.problem(settings) == problem)
    }

    @Test(arguments: [
        "", "progressive; palette; lossless; quality=7; chroma=420; effort=9; max-bytes=1M; background=red; srgb",
        "format=auto:webp,png; progressive; palette; lossless", "format=auto:webp,jpeg; lossless; quality=70",
        "format=png; palette; quality=70", "format=webp; progressive=no; palette=no", "format=gif; effort=9",
        "format=auto:jpeg,png; max-bytes=9K; background=blue", "format=tiff; metadata=none; srgb",
        "hdr=fail; format=gif",
        "format=webp; lossless=no; quality=70",
    ])
    func settingsWithAnEffectAreAccepted(settings: String) throws {
        #expect(try Self.problem(settings) == nil)
    }

    /// The defaults of all renditions need no effect on each of them.
    @Test func onlyTheSettingsOfTheRenditionNeedAnEffect() throws {
        #expect(try Self.problem("format=webp", "progressive; background=red") == nil)
        #expect(try Self.problem("lossless; format=webp", "quality=70") == nil)
        #expect(try Self.problem("progressive", "format=webp")?.contains("no effect on webp") == true)
        #expect(try Self.problem("quality=70", "format=webp; lossless")?.contains("with lossless") == true)
    }

    @Test func errorOfARecipePointsAtTheSetting() throws {
        let recipe = try [PhotoRendition](parsing: "a = none\nb = sepia; format=webp; progressive\n")
        let error = expectError(ChainSyntaxError.self) { try recipe.checkSettings(over: PhotoEncoding()) }
        #expect(error?.text == "b = sepia=0.8; format=webp; progressive=yes")
        #expect(error?.offset == 28 && error?.length == 11)
    }
}
