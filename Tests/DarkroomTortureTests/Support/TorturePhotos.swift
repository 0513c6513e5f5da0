import Darkroom
import DarkroomConcurrency
import DarkroomPhotoServer
import DarkroomTestSupport
import Foundation

/// Serves real photos over HTTP and counts the requests for each photo. Many photos share a few files.
final class TorturePhotos: Sendable {
    /// A file and its developed photo.
    struct Source: Sendable {
        let file: String
        /// The size of the file.
        let byteCount: Int
        /// The files of the photo, as written by `darkroom develop`, by the name of the rendition. The name is empty for
        /// the file of batches without renditions.
        let developed: [String: Data]
    }

    /// The renditions of batches that have renditions.
    static let renditions = [
        PhotoRendition("small", filters: [PhotoFilter("resize=100")]),
        PhotoRendition("grey", filters: [PhotoFilter("grayscale")], encoding: PhotoEncoding("quality=60")),
    ]

    private let server: PhotoServer
    private let sources: [Source]
    private let counts: Locked<[Int: [Int: Int]]>

    /// The files of 20 consecutive photos: small JPEGs of different sizes, and a PNG, which a worker processes
    /// differently.
    private static let files =
        (Array(repeating: "chelsea.jpg", count: 12) + Array(repeating: "coffee.jpg", count: 4)
        + Array(repeating: "astronaut.jpg", count: 3) + ["moon.png"])
        .enumerated().sorted { ($0.offset * 7 % 20) < ($1.offset * 7 % 20) }.map(\.element)

    /// Starts the server, and develops each file once into `scratch`.
    init(scratch: String) throws {
        let counts = Locked<[Int: [Int: Int]]>([:])
        self.counts = counts
        server = try PhotoServer(folder: TestFiles.samples) { _, photo in
            let numbers = photo?.split(separator: ".").compactMap { Int($0) } ?? []
            guard numbers.count == 2 else { return }
            counts.withLock { $0[numbers[0], default: [:]][numbers[1], default: 0] += 1 }
        }
        var developed: [String: Source] = [:]
        for file in Set(Self.files) {
            developed[file] = try Self.develop(TestFiles.samples + "/" + file, as: file, in: scratch)
        }
        sources = Self.files.compactMap { developed[$0] }
    }

    deinit { server.stop() }

    /// The file of photo `index` of a batch.
    func source(_ index: Int) -> Source { sources[index % sources.count] }

    /// The URL of photo `index` of the batch with this number.
    func url(batch number: Int, _ index: Int) -> String { server.url(source(index).file) + "?photo=\(number).\(index)" }

    /// The number of requests for each photo of a batch, by index.
    func requests(batch number: Int) -> [Int: Int] { counts.withLock { $0[number] ?? [:] } }

    /// Removes the request counts of a batch.
    func forget(batch number: Int) { counts.withLock { $0[number] = nil } }

    private static func develop(_ path: String, as file: String, in scratch: String) throws -> Source {
        var developed: [String: Data] = [:]
        func develop(_ renditions: [PhotoRendition]) throws {
            let folder = "\(scratch)/developed-\(renditions.count)"
            let log = folder + "-\(file).log"
            let options = renditions.flatMap { ["--rendition", $0.description] }
            let process = try BoundProcess([TortureWorker.program, "develop", path, "-o", folder] + options, log: log)
            let isDone = process.wait(within: .seconds(60))
            for name in renditions.isEmpty ? [""] : renditions.map(\.name) {
                developed[name] = isDone ? FileManager.default.contents(atPath: "\(folder)/\(name)/\(file)") : nil
                guard developed[name] == nil else { continue }
                process.stop()
                let said = FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
                throw TortureFailure("darkroom develop \(path) made no file \(name): \(said)")
            }
        }
        try develop([])
        try develop(Self.renditions)
        let original = try Data(contentsOf: URL(fileURLWithPath: path))
        return Source(file: file, byteCount: original.count, developed: developed)
    }
}
