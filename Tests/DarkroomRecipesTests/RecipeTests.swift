import ErrorExpectations
import Testing

@testable import DarkroomRecipes

@Suite struct RecipeTests {
    @Test func settingsHaveOneText() throws {
        let text = """
            small-2 = resize=800 sepia;lossless ; srgb = no;max-bytes=1.5M;metadata=icc,exif,no-gps; format=jpg; \
            background=white; chroma=444; effort=9; quality="70"
            """
        let rendition = try PhotoRendition(parsing: text)
        #expect(
            rendition.description == """
                small-2 = resize=800x sepia=0.8; format=jpeg; quality=70; lossless=yes; effort=9; chroma=444; \
                max-bytes=1500K; metadata=icc,exif,no-gps; background=#ffffff; srgb=no
                """)
        #expect(try PhotoRendition(parsing: rendition.description) == rendition)
    }

    @Test(arguments: [
        ("format", "same", "same"), ("format", "auto", "auto:jpeg,png,webp"), ("format", "TIF", "tiff"),
        ("format", "auto:webp,avif", "auto:webp,avif"), ("format", "heif", "heic"), ("max-bytes", "200K", "200K"),
        ("max-bytes", "100", "100"), ("max-bytes", "2mb", "2000K"), ("metadata", "all", "all"),
        ("metadata", "none", "none"), ("metadata", "no-gps", "no-gps"), ("metadata", "icc,no-gps", "icc"),
        ("metadata", "iptc,xmp,exif,icc,copyright", "all"), ("metadata", "iptc,copyright", "copyright,iptc"),
        ("background", "#ABCF", "#aabbcc"), ("palette", "no", "no"), ("hdr", "fail", "fail"), ("quality", "100", "100"),
        ("effort", "0", "0"),
    ])
    func valueIsCanonical(name: String, text: String, canonical: String) throws {
        var settings = PhotoEncoding()
        let setting = try #require(EncodingSetting(rawValue: name))
        try settings.set(setting, to: text)
        #expect(settings.text(of: setting) == canonical)
        #expect(settings.description == "\(name)=\(canonical)")
    }

    @Test func absentSettingsAreThoseOfTheBatch() throws {
        var defaults = PhotoEncoding()
        for (setting, text) in zip(
            EncodingSetting.allCases,
            ["webp", "1", "yes", "1", "yes", "420", "yes", "100", "none", "black", "yes", "fail"])
        {
            try defaults.set(setting, to: text)
        }
        #expect(PhotoEncoding().merged(over: defaults) == defaults)
        let own = try PhotoRendition(
            parsing: """
                a = none; format=png; quality=2; lossless=no; effort=2; progressive=no; chroma=444; palette=no; \
                max-bytes=200; metadata=all; background=white; srgb=no; hdr=tone-map
                """
        ).encoding
        #expect(own.merged(over: defaults) == own)
        #expect(EncodingSetting.allCases.allSatisfy { own.text(of: $0) != nil })
    }

    @Test(arguments: [
        ("sepia", #"character 6: no "=" after the name; write NAME = FILTERS"#),
        ("a b = sepia", #"character 3: no "=" after the name; write NAME = FILTERS"#),
        (
            "../a = sepia",
            #"character 1: a name is 1 to 64 letters, digits, "_", "-" and ".", and does not begin with "-" or ".""#
        ),
        (
            "-a = sepia",
            #"character 1: a name is 1 to 64 letters, digits, "_", "-" and ".", and does not begin with "-" or ".""#
        ),
        (
            "= sepia",
            #"character 1: a name is 1 to 64 letters, digits, "_", "-" and ".", and does not begin with "-" or ".""#
        ),
        ("Manifest = sepia", "character 1: the name manifest belongs to Darkroom; write another name"),
        ("a =", "character 4: no filter; write none for an empty chain"),
        ("a = spia; quality=70", #"character 5: there is no filter "spia"; did you mean sepia?"#),
        (
            "resize=800; quality=70",
            """
            character 8: there is no filter "800"; \(ChainSyntaxErrorTests.allFilters); resize is the name of a filter; \
            write NAME = resize=...
            """
        ),
        ("a = sepia;", #"character 11: no setting after ";"; write SETTING=VALUE"#),
        ("a = sepia; qualty=70", #"character 12: there is no setting "qualty"; did you mean quality?"#),
        (
            "a = sepia; florp",
            """
            character 12: there is no setting "florp"; the settings are format, quality, lossless, effort, \
            progressive, chroma, palette, max-bytes, metadata, background, srgb, hdr
            """
        ),
        ("a=sepia;quality", "character 16: quality has no value; write quality=VALUE"),
        ("a=sepia;quality=", "character 17: quality has no value"),
        ("a=sepia;quality=0", #"character 17: quality "0": write a whole number from 1 to 100"#),
        ("a=sepia;effort=10", #"character 16: effort "10": write a whole number from 0 to 9"#),
        ("a=sepia;hdr=keep", #"character 13: hdr "keep": write tone-map or fail"#),
        ("a=sepia;quality=7 srgb", #"character 19: text after a setting; write ";" between settings"#),
        ("a=sepia;quality=7;quality=6", "character 19: quality is given twice"),
        ("a=sepia;format=jpgg", #"character 16: format "jpgg": did you mean jpeg?"#),
        (
            "a=sepia;format=bmp",
            #"character 16: format "bmp": write one of jpeg, png, webp, avif, heic, jxl, tiff, gif, same, auto"#
        ),
        ("a=sepia;format=auto:jpg,jpeg", #"character 16: format "auto:jpg,jpeg": jpeg is given twice"#),
        ("a=sepia;chroma=422", #"character 16: chroma "422": write 420 or 444"#),
        (
            "a=sepia;max-bytes=99",
            #"character 19: max-bytes "99": write at least 100 bytes, such as 50000, 200K or 1.5M"#
        ),
        (
            "a=sepia;max-bytes=1e99M",
            #"character 19: max-bytes "1e99M": write at least 100 bytes, such as 50000, 200K or 1.5M"#
        ),
        ("a=sepia;metadata=icc,all", #"character 18: metadata "all": all stands alone"#),
        ("a=sepia;metadata=ic", #"character 18: metadata "ic": did you mean icc?"#),
        ("a=sepia;metadata=icc,icc", #"character 18: metadata "icc,icc": icc is given twice"#),
        ("a=sepia;background=blak", #"character 20: background "blak": did you mean black?"#),
        (
            "a=sepia;background=#fff8",
            ##"character 20: background "#fff8": write an opaque colour such as #ff8800 or orange"##
        ),
        ("a=sepia;lossless=maybe", #"character 18: lossless "maybe": write yes or no"#),
    ])
    func mistakeInARenditionIsExplained(text: String, description: String) {
        #expect(expectError(ChainSyntaxError.self) { try PhotoRendition(parsing: text) }?.description == description)
    }

    @Test func fileHasARenditionOnEachLine() throws {
        let text =
            "\u{FEFF}# Two sizes\r\n\r\n  large = resize=2000 \\\r\n  sharpen; \\\n quality=80\r\n#\n\tsmall=none;srgb"
        let recipe = try [PhotoRendition](parsing: text)
        #expect(recipe.text == "large = resize=2000x sharpen=1; quality=80\nsmall = none; srgb=yes\n")
        #expect(try [PhotoRendition](parsing: recipe.text) == recipe)
        #expect(try recipe.checked() == recipe)
        #expect(try [PhotoRendition](parsing: "a = flip \\\n\nb = flop \\\n").count == 2)
    }

    @Test(arguments: [
        ("# a\n", "character 1: no rendition; write NAME = FILTERS", ""),
        ("a = sepia\na = flip", "line 2, character 1: the rendition a is given twice", "a = flip"),
        (
            "a = sepia\r\n\r\n A = flip\r\n",
            "line 3, character 2: the name differs from a only by case; write another name", " A = flip"
        ),
        (
            "# x\n  a = sepia \\\n   flip \\\r\n sepai\nb = flip",
            #"line 4, character 2: there is no filter "sepai"; did you mean sepia?"#, " sepai"
        ),
        (
            "a = flip\nb = resize=8000000\n",
            #"line 2, filter resize, character 12: size "8000000": write whole pixels from 1 to 65535"#,
            "b = resize=8000000"
        ),
        (
            "a = watermark=text:\"x \\\ny\"",
            #"line 1, filter watermark, character 23: in quotes, write \\ for a backslash and \" for a quote"#,
            #"a = watermark=text:"x \"#
        ),
        ("a = flip\n\nb =\nc = flip", "line 3, character 4: no filter; write none for an empty chain", "b ="),
        ("a = flip\nb = flip\u{7}\n", "line 2, character 9: a control character; remove it", "b = flip\u{7}"),
    ])
    func mistakeInAFileHasItsLine(text: String, description: String, line: String) {
        let error = expectError(ChainSyntaxError.self) { try [PhotoRendition](parsing: text) }
        #expect(error?.description == description)
        #expect(error?.text == line)
    }

    @Test func largeRecipesAreRefused() throws {
        let lines = (0..<65).map { "r\($0) = flip\n" }
        #expect(try [PhotoRendition](parsing: lines.dropLast().joined()).count == 64)
        let error = expectError(ChainSyntaxError.self) { try [PhotoRendition](parsing: lines.joined()) }
        #expect(error?.description == "line 65, character 1: more than 64 renditions; leave some out")
        let long = "a = flip\n#" + String(repeating: "é", count: 32_768)
        // The canonical text has twice as many backslashes.
        let backslashes = (0..<12).map { "r\($0) = x:a=\(String(repeating: "\\", count: 4095))." }
        #expect(
            expectError(ChainSyntaxError.self) { try [PhotoRendition](parsing: backslashes.joined(separator: "\n")) }?
                .problem
                == "a recipe is at most 65536 bytes long")
        #expect(
            expectError(ChainSyntaxError.self) { try [PhotoRendition](parsing: long) }?.problem
                == "a recipe is at most 65536 bytes long")
    }

    @Test func renditionsOfACommandLineHaveDifferentNames() throws {
        let renditions = try ["a = flip", "A = flop"].map { try PhotoRendition(parsing: $0) }
        let error = expectError(ChainSyntaxError.self) { try renditions.checked() }
        #expect(error?.problem == "the name differs from a only by case; write another name")
    }
}
