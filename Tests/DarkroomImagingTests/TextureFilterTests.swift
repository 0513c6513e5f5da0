import CImaging
import DarkroomRecipes
import Testing

@testable import DarkroomImaging

/// The arguments that the texture filters pass to their functions.
@Suite struct TextureFilterTests {
    private static var operations: [(text: String, run: RasterOperation)] {
        [
            ("blur=2.5", { darkroom_raster_blur($0, 2.5, $1) }),
            ("sharpen=2,0.5,20", { darkroom_raster_sharpen($0, 2, 0.5, 20, $1) }),
            ("median=5", { darkroom_raster_median($0, 5, $1) }),
            ("pixelate=7", { darkroom_raster_pixelate($0, 7, $1) }),
            ("vignette=0.7,0.2,colour:#ff3300", { darkroom_raster_vignette($0, 0.7, 0.2, 1, 0.2, 0, $1) }),
            (
                "tilt-shift=radius:2,position:0.3,angle:20,width:0.1,fade:0.4",
                { darkroom_raster_tilt_shift($0, 2, 0.3, 20, 0.1, 0.4, $1) }
            ),
        ]
    }

    @Test func argumentsAreThoseOfTheFunction() throws {
        let input = Pixels.noise(width: 37, height: 29, bands: 3)
        for (text, run) in Self.operations {
            let filter = Filter.parsed(text)
            let expected = input.applying(run).pixels
            #expect(expected != input)
            #expect(try FilterGridTests.developed(PNG.file(input), [filter]) == expected, "\(text)")
        }
        let kinds = Self.operations.map { Filter.parsed($0.text).kind }
        #expect(Set(kinds + [.watermark]) == Set(Filter.Kind.allCases.filter { $0.definition.group == .texture }))
    }
}
