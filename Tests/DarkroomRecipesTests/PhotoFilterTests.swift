import ErrorExpectations
import Testing

@testable import DarkroomRecipes

/// The values with which programs describe the files of a batch.
@Suite struct PhotoFilterTests {
    @Test(
        arguments: [
            (.sepia(intensity: 0.5), "sepia=50%", "sepia=0.5"), (.sepia(), "sepia", "sepia=0.8"),
            (.tiltShift(radius: 4), "tilt-shift=radius:4.0px", "tilt-shift=radius:4"),
            (.resize(within: 800, by: 600), "resize=800x600,fit:inside,enlarge:no", "resize=800x600,inside,enlarge:no"),
            (.custom("stamp", arguments: "a b"), #"x:stamp="a b""#, #"x:stamp="a b""#), (.custom("a"), "x:a", "x:a"),
        ] as [(PhotoFilter, String, String)])
    func filterOfAProgramIsTheFilterOfItsText(filter: PhotoFilter, text: String, canonical: String) throws {
        #expect(filter == PhotoFilter(text) && filter.description == canonical)
        #expect(try [filter].checked() == [filter] && [PhotoFilter](parsing: canonical) == [filter])
    }

    @Test(
        arguments: [
            (
                .sepia(intensity: 2),
                #"filter sepia, character 7: amount "2": write a number from 0 to 1, or 0% to 100%"#
            ),
            (.sepia(intensity: .nan), #"filter sepia, character 7: amount "nan": "#),
            (.tiltShift(radius: 0), #"filter tilt-shift, character 19: radius "0": "#),
            (.resize(within: 0, by: 600), #"filter resize, character 8: size "0": "#),
            (.custom("a.b"), "character 1: a custom filter is x: and a name of 1 to 64 letters"),
            (.custom("a", arguments: "\u{1}"), "character 5: a control character"),
            (.custom("a sepia"), "character 1: a custom filter is x: and a name of 1 to 64 letters"),
            (PhotoFilter("sepai"), #"character 1: there is no filter "sepai"; did you mean sepia?"#),
            (PhotoFilter(""), "character 1: no filter; write none for an empty chain"),
            (PhotoFilter("sepia; flip"), #"character 6: a ";" in a filter chain"#),
        ] as [(PhotoFilter, String)])
    func invalidFilterIsRefusedWhenItIsChecked(filter: PhotoFilter, problem: String) {
        let error = expectError(ChainSyntaxError.self) { try [filter].checked() }
        #expect(error?.description.hasPrefix(problem) == true, "\(error?.description ?? "")")
    }

    /// A program may pass a text of a stranger to a custom filter.
    @Test func noPartOfLongArgumentsBecomesAnotherFilter() {
        let arguments = "b x:other watermark=image:/etc/secret.png " + String(repeating: "c", count: 4096)
        let filters = [PhotoFilter.custom("stamp", arguments: arguments)]
        #expect(expectError(ChainSyntaxError.self) { try filters.checked() }?.problem.contains("4096") == true)
    }

    @Test(arguments: ["/a\tb/logo.png", "/a\nb/logo.png", "/a\u{2028}/logo.png", " ", ""])
    func changedArgumentIsChecked(path: String) throws {
        let filter = try Filter(parsing: "watermark=image:logo.png").with("image", path)
        _ = expectError(ChainSyntaxError.self) { try [filter].checked() }
        _ = expectError(ChainSyntaxError.self) { try [PhotoRendition("small", filters: [filter])].checked() }
    }

    /// A valid filter is not parsed again when it is checked, so its text must be that of the same filter.
    @Test(
        arguments: [
            .sepia(intensity: -0.0), .sepia(intensity: 1e-9), .tiltShift(radius: 100), .resize(within: 65_535, by: 1),
            .custom("a", arguments: #"a "b" \;"#), PhotoFilter("watermark=image:\"/a, b: c.png\""),
        ] as [PhotoFilter])
    func textOfAValidFilterIsThatFilter(filter: PhotoFilter) throws {
        #expect(filter.isValid)
        #expect(try [PhotoFilter](parsing: filter.description) == [filter])
    }

    @Test func textOfSeveralFiltersBecomesSeveralFilters() throws {
        #expect(
            try [PhotoFilter("flip  sepia"), .custom("a")].checked() == [PhotoFilter("flip"), .sepia(), .custom("a")])
        #expect(try [PhotoFilter("none")].checked() == [])
        let error = expectError(ChainSyntaxError.self) { try [PhotoFilter("none"), .sepia()].checked() }
        #expect(error?.problem == "none stands alone; leave it or the other filters out")
        #expect(error?.text == "none sepia=0.8")
    }

    @Test func tooManyFiltersAreRefused() throws {
        #expect(try Array(repeating: PhotoFilter("flip"), count: 100).checked().count == 100)
        let many = Array(repeating: PhotoFilter("flip"), count: 101)
        #expect(
            expectError(ChainSyntaxError.self) { try many.checked() }?.problem
                == "more than 100 filters; leave some out")
        let long = Array(repeating: PhotoFilter.custom("a", arguments: String(repeating: "a", count: 4096)), count: 4)
        #expect(
            expectError(ChainSyntaxError.self) { try long.checked() }?.problem.hasPrefix("longer than 16384") == true)
    }

    /// A newer version may have stored a batch with filters that this version does not know.
    @Test func unknownFiltersInRedisKeepTheirText() {
        let text = "sepia=80%  glow=3"
        let filters = [PhotoFilter](stored: text)
        #expect(filters.text == text && filters.builtIn.isEmpty)
        #expect(expectError(ChainSyntaxError.self) { try filters.checked() }?.text == text)
        #expect([PhotoFilter](stored: "none") == [] && [PhotoFilter](stored: "sepia").text == "sepia=0.8")
    }

    @Test func invalidEncodingKeepsItsTextAndIsRefused() throws {
        let encoding = PhotoEncoding("quality=500")
        #expect(encoding.description == "quality=500" && encoding != PhotoEncoding())
        let error = expectError(ChainSyntaxError.self) { try encoding.checked() }
        #expect(error?.description == #"character 9: quality "500": write a whole number from 1 to 100"#)
        #expect(PhotoEncoding("format=jpg;quality=70").description == "format=jpeg; quality=70")
        #expect(try PhotoEncoding("quality=70").checked().quality == 70)
    }

    @Test(arguments: [
        (PhotoRendition("a b", filters: []), "character 3: no \"=\" after the name; write NAME = FILTERS"),
        (
            PhotoRendition("a", filters: [PhotoFilter("sepai")]),
            "character 5: there is no filter \"sepai\"; did you mean sepia?"
        ),
        (PhotoRendition("a", filters: [], encoding: PhotoEncoding("effort=x")), "character 18: effort \"x\": "),
    ])
    func invalidRenditionIsRefused(rendition: PhotoRendition, problem: String) {
        let error = expectError(ChainSyntaxError.self) { try [rendition].checked() }
        #expect(error?.description.hasPrefix(problem) == true, "\(error?.description ?? "")")
    }
}
