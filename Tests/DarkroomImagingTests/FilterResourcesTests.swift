import DarkroomTestSupport
import DarkroomRecipes
import Foundation
import Testing

@testable import DarkroomImaging

/// Cancellation and memory of each filter with a photo of 12 megapixels.
@Suite(.serialized) struct FilterResourcesTests {
    private static let photo = try? enlarged("4000x3000")
    /// A quarter of its pixels.
    private static let smallPhoto = try? enlarged("2000x1500")

    private static func enlarged(_ size: String) throws -> [UInt8] {
        let options = DevelopOptions(filters: [.parsed("resize=\(size),kernel:linear")])
        return try develop(TestFiles.sample("coffee.jpg"), options).bytes
    }

    /// A filter with arguments that make it slow.
    private static func slow(_ kind: Filter.Kind) -> Filter {
        let texts: [Filter.Kind: String] = [
            .resize: "resize=4400x3300", .crop: "crop=3999x2999,gravity:attention",
            .extend: "extend=200,background:blur",
            .rotate: "rotate=33", .blur: "blur=30", .sharpen: "sharpen=10", .median: "median=15",
            .tiltShift: "tilt-shift=radius:30,angle:20", .watermark: "watermark=text:Darkroom,tile:yes,opacity:50%",
        ]
        return .parsed(texts[kind] ?? kind.definition.example)
    }

    /// When a photo counts as cancelled.
    private final class Deadline: @unchecked Sendable {
        /// Protects `instant`.
        private let lock = NSLock()
        private var instant = ContinuousClock.now + .seconds(3600)

        func set(after duration: Duration) { lock.withLock { instant = .now + duration } }
        var isOver: Bool { lock.withLock { .now >= instant } }
        var delay: Duration { lock.withLock { .now - instant } }
    }

    /// Decodes the photo, calls `begin`, applies the filter and encodes the result as JPEG.
    private static func run(
        _ filter: Filter, of photo: [UInt8]? = photo, processorTime: Duration? = nil, isCancelled: @Sendable () -> Bool,
        begin: () -> Void
    ) throws -> ImagingError? {
        var options = DevelopOptions(filters: [filter], format: .jpeg)
        options.processorTime = processorTime
        options.overlays = try FilterGridTests.overlays(filter)
        let photo = try #require(photo)
        do throws(ImagingError) {
            try photo.withBytes { bytes throws(ImagingError) in
                try Imaging.withDecoder(bytes, options, isCancelled: isCancelled) {
                    decoder throws(ImagingError) in
                    let picture = try decoder.open()
                    try decoder.decode(picture, inMemory: true)
                    begin()
                    let chain = ChainApplication([filter], Watermarks(options.overlays), originalSize: picture.size)
                    let changed = try chain.applied(to: picture)
                    _ = try Encoder(settings: options.outputs[0].encoding, source: .jpeg).encode(changed)
                }
            }
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: Filter.Kind.allCases) func filterIsCancelledQuickly(kind: Filter.Kind) throws {
        let filter = Self.slow(kind)
        var cancelled = 0
        for milliseconds in [2, 30, 100] {
            // 100 ms on a machine without other work. Other tests may use all cores for a moment, so a slow attempt is
            // repeated.
            var delays: [Duration] = []
            repeat {
                let deadline = Deadline()
                let error = try Self.run(filter, isCancelled: { deadline.isOver }) {
                    deadline.set(after: .milliseconds(milliseconds))
                }
                delays.append(deadline.delay)
                if error != nil { cancelled += 1 }
                #expect(error == nil || error?.code == .cancelled, "\(filter): \(error as Any)")
            } while delays.allSatisfy { $0 >= .milliseconds(200) } && delays.count < 10
            #expect(delays.contains { $0 < .milliseconds(200) }, "\(filter) after \(milliseconds) ms: \(delays)")
        }
        // Fast filters end before the later deadlines.
        #expect(cancelled > 0, "\(filter)")
    }

    /// The limit is reached while the filter runs. Some filters run only when the encoder asks for their pixels; then it is
    /// reached in the encoder.
    @Test(arguments: Filter.Kind.allCases) func filterStopsAtTheLimitOfProcessorTime(kind: Filter.Kind) throws {
        let filter = kind == .crop ? .parsed("crop=1999x1499,gravity:attention") : Self.slow(kind)
        var error: ImagingError?
        // If the machine becomes faster after the limit was measured, the filter completes; then it is measured again.
        for _ in 1...3 where error == nil {
            let clock = ProcessorClock(limit: .seconds(3600))
            var decoded = Duration.zero
            let completed = try Self.run(filter, of: Self.smallPhoto, isCancelled: { clock.check() }) {
                _ = clock.check()
                decoded = clock.spent
            }
            #expect(completed == nil)
            let limit = decoded + (clock.spent - decoded) / 3
            error = try Self.run(filter, of: Self.smallPhoto, processorTime: limit, isCancelled: { false }) {}
        }
        #expect(error?.code == .timedOut, "\(filter): \(error as Any)")
    }

    /// A field of /proc/self/status, in megabytes.
    private static func memory(_ field: String) throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix(field + ":") })
        return try #require(line.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) }) / 1024
    }

    @Test(arguments: Filter.Kind.allCases) func filterUsesLittleMemory(kind: Filter.Kind) throws {
        let filter = Self.slow(kind)
        var before = 0
        let error = try Self.run(filter, isCancelled: { false }) {
            // Resets the peak (proc(5)). If it fails, `before` stays 0, and the test fails.
            do {
                try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
                before = try Self.memory("VmRSS")
            } catch {}
        }
        #expect(error == nil)
        try #require(before > 0)
        let used = try Self.memory("VmHWM") - before
        #expect(used <= 150, "\(filter)")
    }
}
