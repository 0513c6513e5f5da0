import DarkroomConcurrency
import DarkroomRecipes
import ErrorExpectations
import Testing

@testable import DarkroomImaging

@Suite struct AnimationTests {
    // Not written in the arguments of `@Test`, because Swift 6.0 cannot compile a closure there.
    private static let formatsWithoutAnimation = ImageFormat.allCases.filter { ![.gif, .webp].contains($0) }

    private static let palette = [[200, 40, 40], [40, 180, 60], [50, 60, 200], [240, 240, 240], [10, 10, 10]]
    private static let delays = [100, 50, 300]

    /// Three frames of 80 x 60 pixels: red, green and blue, with a white square that moves to the right.
    private static let gif = GIF.file(
        width: 80, height: 60, palette: palette, delays: delays, loops: 3,
        frames: (0..<3).map { index in
            { x, y in (20..<40).contains(y) && (20 * index..<20 * index + 20).contains(x) ? 3 : index }
        })

    private static let webp = Result { try develop(gif, "none", "format=webp; lossless", keepsAnimation: true).bytes }

    private static func near(_ found: [Int], _ expected: [Int], within tolerance: Int) -> Bool {
        zip(found, expected).allSatisfy { abs($0 - $1) <= tolerance }
    }

    /// Expects the frames of ``gif``, changed by `colour`.
    private static func check(_ bytes: [UInt8], _ colour: ([Int]) -> [Int] = { $0 }, within tolerance: Int) throws {
        let frames = try frames(of: bytes)
        #expect(frames.count == 3)
        for (index, frame) in frames.enumerated() {
            #expect((frame.width, frame.height) == (80, 60))
            #expect(near(frame[70, 50], colour(palette[index]), within: tolerance), "\(index): \(frame[70, 50])")
            #expect(near(frame[20 * index + 10, 30], colour(palette[3]), within: tolerance), "\(index)")
        }
    }

    @Test(arguments: [ImageFormat.gif, .webp], [ImageFormat.gif, .webp])
    func framesDelaysAndLoopAreKept(from source: ImageFormat, to format: ImageFormat) throws {
        let file = try source == .gif ? Self.gif : Self.webp.get()
        // libvips stores the number of rounds; the number in a GIF is that of the repetitions.
        let loops = format == .gif ? 3 : 4
        let image = try develop(file, "sepia", "format=\(format.rawValue)", keepsAnimation: true)
        #expect(Animation(image.bytes) == Animation(delays: Self.delays, loops: loops))
        #expect((image.format, image.width, image.height) == (format, 80, 60))
        try Self.check(image.bytes, { SepiaTests.expected($0, thousandths: 800) }, within: 12)
    }

    @Test func endlessLoopIsKept() throws {
        let gif = GIF.file(
            width: 9, height: 9, palette: Self.palette, delays: [40, 40], loops: 0,
            frames: [{ _, _ in 0 }, { _, _ in 1 }])
        for format in ["gif", "webp"] {
            let image = try develop(gif, "invert", "format=\(format)", keepsAnimation: true)
            #expect(Animation(image.bytes) == Animation(delays: [40, 40], loops: 0), "\(format)")
        }
    }

    @Test func firstFrameIsTheDefault() throws {
        for file in [Self.gif, try Self.webp.get()] {
            let image = try develop(file, "sepia", "format=gif")
            #expect(Animation(image.bytes).delays.count <= 1)
            #expect(try frames(of: image.bytes).count == 1)
        }
    }

    @Test(arguments: formatsWithoutAnimation)
    func otherFormatsGetTheFirstFrame(format: ImageFormat) throws {
        let image = try develop(Self.gif, "none", "format=\(format.rawValue)", keepsAnimation: true)
        #expect((image.format, image.width, image.height) == (format, 80, 60))
        #expect(try Self.near(decoded(image.bytes)[70, 50], [200, 40, 40], within: 2570), "\(format)")
    }

    /// Each frame is filtered as a separate photo, except for what is found in the first frame.
    @Test(arguments: Filter.Kind.allCases) func everyFilterKeepsTheFrames(kind: Filter.Kind) throws {
        let photos = try frames(of: Self.gif).map { PNG.file($0) }
        for text in [kind.definition.example, try #require(FilterGridTests.others[kind]), "resize=40x"] {
            let filter = Filter.parsed(text)
            for settings in ["format=webp; lossless", "format=gif"] {
                var options = DevelopOptions(
                    outputs: [ImageOutput(filters: [filter], encoding: try PhotoEncoding(parsing: settings))])
                options.overlays = try FilterGridTests.overlays(filter)
                options.keepsAnimation = true
                let image = try develop(Self.gif, options)
                #expect(Animation(image.bytes).delays == Self.delays, "\(text)")
                let found = try frames(of: image.bytes)
                #expect(found.count == 3)
                // GIF has only 256 colours.
                guard settings != "format=gif" else { continue }
                for (index, frame) in found.enumerated() {
                    if index > 0, kind == .trim || kind == .normalize || text.contains("attention") { continue }
                    let alone = try FilterGridTests.developed(photos[index], [filter])
                    #expect(frame.visible == alone.visible, "\(text), frame \(index)")
                }
            }
        }
    }

    /// The square moves, so each frame would have another box.
    @Test(arguments: ["crop=20x20,gravity:attention", "crop=20x20,gravity:entropy", "trim=background:#0a0a0a"])
    func theBoxOfTheFirstFrameIsUsedForAllFrames(chain: String) throws {
        let moving = GIF.file(
            width: 80, height: 60, palette: Self.palette, delays: [100, 100], loops: 0,
            frames: [
                { x, y in x < 20 && y < 20 ? (x / 4 + y / 4) % 5 : 4 },
                { x, y in x >= 60 && y >= 40 ? (x / 4 + y / 4) % 5 : 4 },
            ])
        let first = try decoded(develop(moving, chain, "format=png").bytes)
        let pixels = try frames(of: develop(moving, chain, "format=gif", keepsAnimation: true).bytes)
        #expect(pixels.count == 2)
        #expect((first.width, first.height) == (pixels[0].width, pixels[0].height))
        #expect((first.width, first.height) == (20, 20))
        // In the second frame, the square is outside of the box.
        for corner in [(0, 0), (19, 0), (0, 19), (19, 19), (10, 10)] {
            #expect(Self.near(pixels[1][corner.0, corner.1], [10, 10, 10], within: 3), "\(corner)")
        }
    }

    @Test func watermarkIsOnEachFrame() throws {
        let mark = PNG.file(Pixels(width: 10, height: 10, bands: 3) { _, _, band in band == 1 ? 255 : 0 })
        let filter = Filter.parsed("watermark=image:mark.png,scale:0.25,position:southeast,margin:0,opacity:1")
        var encoding = PhotoEncoding()
        encoding.format = .fixed(.gif)
        var options = DevelopOptions(outputs: [ImageOutput(filters: [filter], encoding: encoding)])
        options.overlays = [filter: mark]
        options.keepsAnimation = true
        for frame in try frames(of: develop(Self.gif, options).bytes) {
            #expect(Self.near(frame[75, 55], [0, 255, 0], within: 12), "\(frame[75, 55])")
        }
    }

    @Test func severalRenditionsKeepTheFrames() throws {
        var options = DevelopOptions(
            outputs: try [("resize=40x", "format=webp"), ("sepia", "format=gif"), ("none", "format=jpeg")].map {
                ImageOutput(
                    filters: try [PhotoFilter](parsing: $0.0).builtIn, encoding: try PhotoEncoding(parsing: $0.1))
            })
        options.keepsAnimation = true
        let images = try Imaging.develop(Self.gif, options)
        #expect(images.map(\.format) == [.webp, .gif, .jpeg])
        #expect(images.map { Animation($0.bytes).delays.count } == [3, 3, 0])
        #expect(images.map(\.width) == [40, 80, 80])
    }

    @Test func pixelsOfAllFramesCount() throws {
        let pixels = 80 * 60
        for file in [Self.gif, try Self.webp.get()] {
            #expect(throws: Never.self) { try develop(file, "sepia", maxPixels: pixels) }
            #expect(throws: Never.self) { try develop(file, "sepia", keepsAnimation: true, maxPixels: 3 * pixels) }
            let error = expectError(ImagingError.self) {
                try develop(file, "sepia", keepsAnimation: true, maxPixels: 3 * pixels - 1)
            }
            #expect(error?.code == .tooManyPixels)
        }
    }

    @Test func framesThatNoOutputHasDoNotCount() throws {
        let pixels = 80 * 60
        #expect(try develop(Self.gif, "sepia", "format=png", keepsAnimation: true, maxPixels: pixels).width == 80)
        #expect(throws: ImagingError.self) {
            try develop(Self.gif, "sepia", "format=webp", keepsAnimation: true, maxPixels: pixels)
        }
    }

    @Test func pixelsOfAllFramesCountAfterFilters() throws {
        let pixels = 3 * 160 * 120
        for chain in ["resize=160x", "extend=top:60,left:80"] {
            #expect(throws: Never.self) { try develop(Self.gif, chain, keepsAnimation: true, maxPixels: pixels) }
            let error = expectError(ImagingError.self) {
                try develop(Self.gif, chain, keepsAnimation: true, maxPixels: pixels - 1)
            }
            #expect(error?.code == .tooManyPixels)
            #expect(error?.detail.contains("160 x 120 pixels in each of 3 frames") == true, "\(error?.detail ?? "")")
        }
        // The only frame of the output.
        #expect(
            try develop(Self.gif, "resize=160x", "format=png", keepsAnimation: true, maxPixels: pixels / 3).width == 160
        )
    }

    /// Otherwise, the brightness would change from frame to frame.
    @Test func theLevelsOfTheFirstFrameAreUsedForAllFrames() throws {
        let greys = [50, 100, 150, 200].map { Array(repeating: $0, count: 3) }
        let moving = GIF.file(
            width: 8, height: 8, palette: greys, delays: [100, 100], loops: 0,
            frames: [{ x, _ in x < 4 ? 0 : 3 }, { x, _ in x < 4 ? 1 : 2 }])
        let settings = "format=webp; lossless"
        let pixels = try frames(of: develop(moving, "normalize=0,100", settings, keepsAnimation: true).bytes)
        let levels = pixels.map { [$0[0, 0][0], $0[7, 7][0]] }
        #expect(levels == [[0, 255], [85, 170]])
    }

    /// The time is proportional to the number of frames, and each frame is a chance to cancel.
    @Test func manyFramesAreDevelopedOneByOne() throws {
        let count = 3000
        let gif = GIF.file(
            width: 1, height: 1, palette: Self.palette, delays: Array(repeating: 20, count: count), loops: 0,
            frames: (0..<count).map { index in { _, _ in index % 5 } })
        var options = try DevelopOptions(outputs: [ImageOutput(filters: [PhotoFilter](parsing: "invert").builtIn)])
        options.keepsAnimation = true
        let calls = Locked(0)
        let image = try Imaging.develop(
            gif, options,
            isCancelled: {
                calls.withLock { $0 += 1 }; return false
            })[0]
        #expect(Animation(image.bytes).delays.reduce(0, +) == 20 * count)
        let all = calls.withLock { $0 }
        #expect(all >= count)
        let rest = Locked(all / 2)
        let error = expectError(ImagingError.self) {
            try Imaging.develop(
                gif, options,
                isCancelled: {
                    rest.withLock {
                        $0 -= 1; return $0 < 0
                    }
                })
        }
        #expect(error?.code == .cancelled)
    }

    @Test func metadataSelectionKeepsTheFrames() throws {
        for format in ["gif", "webp"] {
            let image = try develop(Self.gif, "sepia", "format=\(format); metadata=none", keepsAnimation: true)
            #expect(Animation(image.bytes).delays == Self.delays, "\(format)")
        }
    }

    @Test func unchangedAnimationIsKeptByteForByte() throws {
        for keepsAnimation in [true, false] {
            #expect(try develop(Self.gif, "none", keepsAnimation: keepsAnimation).bytes == Self.gif)
        }
    }
}
