import DarkroomFiles
import DarkroomImaging
import DarkroomModel
import DarkroomRecipes
import DarkroomTestSupport
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomWorker

/// The pictures of watermarks, in the worker and in requests to helpers.
@Suite struct OverlaysTests {
    private let scratch: ScratchFolder
    private static let picture = URL(fileURLWithPath: TestFiles.samples + "/moon.png")

    init() throws { scratch = try ScratchFolder() }

    private func renditions(_ filters: [String]) -> [PhotoRendition] {
        filters.map { PhotoRendition("", filters: [PhotoFilter($0)]) }
    }

    /// Writes the largest possible file of a watermark.
    private func largeFile(_ name: String) throws -> String {
        let picture = [UInt8](try Data(contentsOf: Self.picture))
        return try scratch.write(name, picture + [UInt8](repeating: 0, count: 4 << 20 - picture.count))
    }

    @Test func eachFileIsLoadedOnce() throws {
        let path = try largeFile("logo.png")
        var loads = 0
        let filters = renditions((1...50).map { "watermark=image:\(path),opacity:\($0)%" })
        let overlays = try Overlays.load(for: filters) { _ in
            loads += 1
            return scratch.path
        }
        #expect(overlays.count == 50 && loads == 1)
    }

    @Test func allPicturesOfABatchHaveALimit() throws {
        let paths = try (0...8).map { try largeFile("\($0).png") }
        let filters = paths.map { "watermark=image:\($0)" }
        let few = try Overlays.load(for: renditions(Array(filters.prefix(8)))) { _ in scratch.path }
        #expect(few.count == 8)
        let many = renditions(filters)
        let failure = expectError(Overlays.Failure.self) {
            _ = try Overlays.load(for: many) { _ in scratch.path }
        }
        #expect(failure?.description.hasPrefix("the watermarks of the batch have more than 33.6 MB") == true)
    }

    // MARK: - Requests to helpers

    private func options() throws -> DevelopOptions {
        let files: [String: [UInt8]] = [
            "watermark=image:/a.png": [1, 2, 3], "watermark=image:/a.png,position:north": [1, 2, 3],
            "watermark=image:/b.png": [4], "watermark=text:x": [5, 6], "watermark=text:x,colour:red": [7],
        ]
        var options = DevelopOptions(outputs: [], maxPixels: 7, processorTime: .seconds(3))
        for (text, file) in files { options.overlays[try Filter(parsing: text)] = file }
        options.outputs = [ImageOutput(filters: Array(options.overlays.keys), rendition: "all")]
        return options
    }

    @Test func picturesFollowThePhotoOnce() throws {
        let options = try options()
        let job = HelperJob(options, seconds: 3, maxBytes: 100)
        let bytes = HelperJob.bytes([9, 8], job, options)
        #expect(bytes.count == 9 && bytes.starts(with: [9, 8]))
        let sent = try JSONDecoder().decode(HelperJob.self, from: JSONEncoder().encode(job))
        let development = try sent.development(bytes)
        #expect(development.photo == [9, 8] && development.options == options)
    }

    @Test(arguments: [-1, 10, Int.max]) func sizesOutsideOfTheBytesAreRefused(size: Int) throws {
        let options = try options()
        var job = HelperJob(options, seconds: 3, maxBytes: 100)
        let bytes = HelperJob.bytes([9, 8], job, options)
        job.overlays[job.overlays.count - 1].bytes = size
        let damaged = job
        #expect(throws: HelperChannel.Failure.self) { try damaged.development(bytes) }
    }
}
