@testable import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

/// The sizes of `resize` and `crop`, compared with the rules that sharp documents
/// (https://sharp.pixelplumbing.com/api-resize).
@Suite struct ResizeRulesTests {
    /// 1 x 1 to 7 x 5, and 20 odd sizes.
    static let sizes: [(Int, Int)] =
        (1...7).flatMap { width in (1...5).map { (width, $0) } } + [
            (11, 3), (3, 11), (13, 13), (17, 31), (31, 17), (41, 1), (1, 41), (53, 37), (61, 83), (97, 5), (5, 97),
            (101, 103), (127, 255), (255, 127), (301, 199), (333, 777), (641, 427), (799, 601), (1023, 3), (1999, 1501),
        ]

    private static let targets: [(Int?, Int?)] = [
        (1, 1), (2, 3), (5, 5), (7, 4), (10, 10), (16, 9), (33, 50), (100, 75), (nil, 7), (7, nil), (nil, 100),
        (101, nil),
        (640, 480), (999, 1),
    ]

    /// Computes the scaled size and the final size, by these sentences of the documentation of sharp: "Preserving aspect ratio, ensure the image covers both
    /// provided dimensions by cropping/clipping to fit" (cover), "contain within both provided dimensions using
    /// 'letterboxing' where necessary" (contain), "ignore the aspect ratio of the input and stretch" (fill), "resize the
    /// image to be as large as possible while ensuring its dimensions are less than or equal to both those specified"
    /// (inside), "as small as possible while ensuring its dimensions are greater than or equal to both" (outside),
    /// "auto-scale the width to match the height", and withoutEnlargement: "do not scale up if the width or height are
    /// already less than the target dimensions".
    private static func expected(
        _ size: (Int, Int), _ target: (Int?, Int?), _ fit: String, _ enlarges: Bool
    ) -> (scaled: (Int, Int), final: (Int, Int)) {
        let (w, h) = (Double(size.0), Double(size.1))
        func rounded(_ value: Double) -> Int { max(1, Int(value.rounded())) }
        var scales: (Double, Double)
        switch target {
        case (let tw?, let th?):
            let (x, y) = (Double(tw) / w, Double(th) / h)
            switch fit {
            case "fill": scales = (x, y)
            case "cover", "outside": scales = (max(x, y), max(x, y))
            default: scales = (min(x, y), min(x, y))
            }
        case (let tw?, nil): scales = (Double(tw) / w, fit == "fill" ? 1 : Double(tw) / w)
        case (nil, let th?): scales = (fit == "fill" ? 1 : Double(th) / h, Double(th) / h)
        default: scales = (1, 1)
        }
        if !enlarges { scales = (min(scales.0, 1), min(scales.1, 1)) }
        // Removes the error of the division, so that exact halves are rounded up.
        func exact(_ value: Double) -> Double { (value * 1e9).rounded() / 1e9 }
        let scaled = (rounded(exact(w * scales.0)), rounded(exact(h * scales.1)))
        guard let tw = target.0, let th = target.1 else { return (scaled, scaled) }
        switch fit {
        case "cover": return (scaled, (min(tw, scaled.0), min(th, scaled.1)))
        case "contain": return (scaled, (max(tw, scaled.0), max(th, scaled.1)))
        default: return (scaled, scaled)
        }
    }

    @Test(arguments: ["cover", "contain", "fill", "inside", "outside"], [true, false])
    func sizesFollowTheDocumentedRules(fit: String, enlarges: Bool) {
        for size in Self.sizes {
            for target in Self.targets {
                let plan = ResizeRules.plan(
                    PixelSize(width: size.0, height: size.1), to: (target.0, target.1), fit: fit, enlarges: enlarges)
                let expected = Self.expected(size, target, fit, enlarges)
                let final = plan.cut ?? plan.canvas ?? plan.scaled
                #expect(
                    (plan.scaled.width, plan.scaled.height) == expected.scaled,
                    "\(size) to \(target): \(plan.scaled), not \(expected.scaled)")
                #expect((final.width, final.height) == expected.final, "\(size) to \(target): \(final)")
            }
        }
    }

    /// The pictures really get these sizes.
    @Test(arguments: ["cover", "contain", "fill", "inside", "outside"])
    func picturesGetTheirSizes(fit: String) throws {
        for size in Self.sizes where size.0 * size.1 < 3000 {
            let file = PNG.file(Pixels.gradient(width: size.0, height: size.1))
            for target in Self.targets where (target.0 ?? 0) < 200 {
                let text = "resize=\(target.0.map(String.init) ?? "")x\(target.1.map(String.init) ?? ""),\(fit)"
                let image = try develop(file, DevelopOptions(filters: [.parsed(text)]))
                let expected = Self.expected(size, target, fit, true).final
                #expect((image.width, image.height) == expected, "\(size): \(text)")
            }
        }
    }

    /// libvips rounds the size of a shrunk JPEG down, and libjpeg rounds it up, so there is a last row that libvips does
    /// not expect.
    @Test(arguments: [JPEG.Kind.baseline, .progressive, .grey]) func shrunkJPEGsHaveAnySize(kind: JPEG.Kind) throws {
        for (width, height) in (1...17).map({ (640 + $0, 480 - $0) }) + [(9, 4001), (4001, 9), (17, 17)] {
            let pixels = Pixels.gradient(width: width, height: height, bands: kind == .grey ? 1 : 3)
            let image = try develop(
                JPEG.file(pixels, kind), DevelopOptions(filters: [.parsed("resize=8x8,fill")], format: .png))
            let small = try PNG.pixels(of: image.bytes)
            #expect(small.width == 8 && small.height == 8)
            // The last pixel is the mean of the last eighth of the gradient.
            #expect(small[7, 7].allSatisfy { (225...254).contains($0) }, "\(width) x \(height): \(small[7, 7])")
        }
    }

    @Test func ratiosAreTheLargestParts() throws {
        for size in Self.sizes {
            for (width, height) in [(1.0, 1.0), (16, 9), (9, 16), (3, 2), (1.91, 1)] {
                let part = ResizeRules.size(PixelSize(width: size.0, height: size.1), withRatio: width / height)
                #expect(part.width == size.0 || part.height == size.1)
                #expect(part.width <= size.0 && part.height <= size.1 && part.width > 0 && part.height > 0)
                // One side is whole, and the other is the nearest length.
                let (byHeight, byWidth) = (Double(size.1) * width / height, Double(size.0) * height / width)
                let isNear =
                    part.height == size.1 && abs(Double(part.width) - max(1, byHeight)) <= 0.5
                    || part.width == size.0 && abs(Double(part.height) - max(1, byWidth)) <= 0.5
                #expect(isNear, "\(size), \(width):\(height): \(part)")
            }
        }
    }

    /// As in sharp, the remainder of an odd difference is cut at the left and the top.
    @Test func positionsOfCropsFollowSharp() {
        let whole = PixelSize(width: 10, height: 7)
        let part = PixelSize(width: 5, height: 4)
        let places: [(String, Int, Int)] = [
            ("centre", 3, 2), ("north", 3, 0), ("northeast", 5, 0), ("east", 5, 2), ("southeast", 5, 3),
            ("south", 3, 3),
            ("southwest", 0, 3), ("west", 0, 2), ("northwest", 0, 0),
        ]
        for (gravity, x, y) in places {
            #expect(ResizeRules.box(of: part, in: whole, gravity: gravity) == Box(x: x, y: y, width: 5, height: 4))
        }
        for (gravity, x, y) in [("centre", 2, 1), ("northwest", 0, 0), ("southeast", 5, 3), ("east", 5, 1)] {
            let place = ResizeRules.place(part, in: whole, gravity: gravity)
            #expect(place == Box(x: x, y: y, width: 10, height: 7))
        }
        let focus = FocusPoint(x: 1, y: 0)
        #expect(ResizeRules.box(of: part, in: whole, focus: focus) == Box(x: 5, y: 0, width: 5, height: 4))
    }

    @Test(arguments: [
        ((4000, 3000), (2000, 1500), 1), ((4000, 3000), (1000, 750), 2), ((4000, 3000), (800, 600), 2),
        ((4000, 3000), (500, 375), 4), ((4000, 3000), (200, 150), 8), ((4000, 3000), (20, 15), 8),
        ((4000, 3000), (100, 3000), 1), ((100, 100), (200, 200), 1),
    ])
    func decoderShrinksByAtMostHalfOfTheScale(size: (Int, Int), scaled: (Int, Int), shrink: Int) {
        let found = ResizeRules.shrinkOnLoad(
            PixelSize(width: size.0, height: size.1), to: PixelSize(width: scaled.0, height: scaled.1))
        #expect(found == shrink)
    }
}
