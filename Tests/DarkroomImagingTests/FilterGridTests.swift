import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

/// Every filter on every kind of photo: all orientations, odd sizes, grey, CMYK, 16 bits, alpha, palette, wide gamut.
@Suite struct FilterGridTests {
    /// A second setting of each filter, besides the example of its definition.
    static let others: [Filter.Kind: String] = [
        .sepia: "sepia=30%", .grayscale: "grayscale=50%", .saturate: "saturate=0.2", .hueRotate: "hue-rotate=-30",
        .invert: "invert=25%", .brightness: "brightness=50%", .contrast: "contrast=70%", .gamma: "gamma=0.7",
        .tint: "tint=#2080ff", .duotone: "duotone=black,white", .normalize: "normalize=0,100",
        .matrix: "matrix=0.5,0.5,0,0.1,0,1,0,0,0,0,1,-0.1", .resize: "resize=9x5,contain,background:#ff000080",
        .crop: "crop=1:1,gravity:northwest", .trim: "trim=0",
        .extend: "extend=top:3,left:1,background:#00ff0040",
        .rotate: "rotate=33,background:#0000ff00", .flip: "flip", .flop: "flop", .blur: "blur=0.8",
        .sharpen: "sharpen=1,0.3,5", .median: "median=3", .pixelate: "pixelate=3",
        .vignette: "vignette=100%,0,colour:navy",
        .tiltShift: "tilt-shift=radius:1.5,position:0.2,angle:-40,width:0.1,fade:0.5",
        .watermark: "watermark=text:x,tile:yes,opacity:50%,margin:1,colour:red",
    ]

    /// The size after the filters whose result does not depend on the pixels; nil for trim.
    static func size(_ filter: String, _ width: Int, _ height: Int) -> (Int, Int)? {
        let (w, h) = (Double(width), Double(height))
        switch filter {
        case "resize=800x600,inside,enlarge:no": return (width, height)
        case "resize=9x5,contain,background:#ff000080": return (9, 5)
        case "crop=16:9,gravity:attention":
            return w / h > 16.0 / 9
                ? (max(1, Int((h * 16 / 9).rounded())), height) : (width, max(1, Int((w * 9 / 16).rounded())))
        case "crop=1:1,gravity:northwest": return (min(width, height), min(width, height))
        case "extend=20,background:white": return (width + 40, height + 40)
        case "extend=top:3,left:1,background:#00ff0040": return (width + 1, height + 3)
        case "rotate=90deg": return (height, width)
        case "rotate=33,background:#0000ff00":
            let (sine, cosine) = (0.544_639_035, 0.838_670_568)  // of 33 degrees
            return (Int((w * cosine + h * sine).rounded()), Int((w * sine + h * cosine).rounded()))
        default: return filter.hasPrefix("trim") ? nil : (width, height)
        }
    }

    static func overlays(_ filter: Filter) throws -> [Filter: [UInt8]] {
        guard filter.kind == .watermark, let text = filter.text("text") else { return [:] }
        return [filter: try Imaging.render(text, font: nil, colour: filter.colour("colour"))]
    }

    static func developed(_ bytes: [UInt8], _ filters: [Filter]) throws -> Pixels {
        var options = DevelopOptions(filters: filters, format: .png)
        for filter in filters { options.overlays.merge(try overlays(filter)) { $1 } }
        return try PNG.pixels(of: develop(bytes, options).bytes)
    }

    /// A file of the grid with its upright pixels without a filter.
    struct Entry {
        let file: PhotoFile
        let size: (Int, Int)
        let plain: Pixels

        /// libvips and lcms need 10 ms for a file with a profile. The filters get these files in three orientations, and all
        /// others in all.
        var isFiltered: Bool {
            let hasProfile = ["CMYK", "P3"].contains { file.name.hasPrefix($0) }
            return !hasProfile || size != (7, 5) || file.name.hasSuffix("orientation 6")
        }
    }

    private static let entries: [Entry]? = try? PhotoFile.sizes.flatMap { size, orientations in
        try PhotoFile.all(of: PhotoFile.photo(width: size.0, height: size.1), orientations).map { file in
            Entry(file: file, size: size, plain: try developed(file.bytes, [.sepia(intensity: 0)]).inRGB)
        }
    }

    @Test func everyKindOfFileIsReadUprightWithItsColours() throws {
        for entry in try #require(Self.entries) {
            let photo = PhotoFile.photo(width: entry.size.0, height: entry.size.1)
            let isGrey = entry.file.name.hasPrefix("grey")
            let expected = isGrey ? photo.mapped(bands: 3, bits: 8) { [$0[1], $0[1], $0[1]] } : photo
            let distance = entry.plain.distance(to: expected) ?? .max
            #expect(distance <= entry.file.tolerance, "\(entry.file.name), \(entry.size)")
        }
    }

    /// The result must be that of an upright RGB file with the same colours.
    @Test(arguments: Filter.Kind.allCases) func filterWorksOnEveryKindOfPhoto(kind: Filter.Kind) throws {
        // libvips scales 8-bit samples with coefficients of 12 bits, and all others in floating point.
        let tolerance = kind == .resize ? 2 : 1
        for text in [kind.definition.example, try #require(Self.others[kind])] {
            let filter = Filter.parsed(text)
            var expected: [[UInt16]: Pixels] = [:]
            for entry in try #require(Self.entries) where entry.isFiltered {
                let key = entry.plain.values + [UInt16(entry.size.0)]
                let usual = try expected[key] ?? Self.developed(PNG.file(entry.plain), [filter]).visible
                expected[key] = usual
                let found = try Self.developed(entry.file.bytes, [filter]).visible
                if let size = Self.size(text, entry.size.0, entry.size.1) {
                    #expect((found.width, found.height) == size, "\(text): \(entry.file.name), \(entry.size)")
                }
                let distance = found.distance(to: usual) ?? .max
                #expect(distance <= tolerance, "\(text): \(entry.file.name), \(entry.size)")
            }
        }
    }
}
