import DarkroomCoding
import DarkroomConcurrency
import DarkroomPhotoServer
import DarkroomTestSupport
import Foundation

/// Real photos over HTTP: a few files, each of which stands for many photos, and how often each photo was asked for.
final class TorturePhotos: Sendable {
    /// A file, and what becomes of it.
    struct Source: Sendable {
        let file: String
        /// Of the file.
        let byteCount: Int
        /// The bytes that it is developed to, by one call of `darkroom develop`.
        let developed: Data
        /// The same as the manifest says it.
        let sha256: String
    }

    private let server: PhotoServer
    private let sources: [Source]
    private let counts: Locked<[Int: [Int: Int]]>

    /// Twenty photos that follow one another: small JPEGs of different sizes, and a PNG, which takes another way through a worker.
    private static let files =
        (Array(repeating: "chelsea.jpg", count: 12) + Array(repeating: "coffee.jpg", count: 4)
        + Array(repeating: "astronaut.jpg", count: 3) + ["moon.png"])
        .enumerated().sorted { ($0.offset * 7 % 20) < ($1.offset * 7 % 20) }.map(\.element)

    /// Starts the server, and develops each file once in `scratch`.
    init(scratch: String) throws {
        let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Samples").path
        let counts = Locked<[Int: [Int: Int]]>([:])
        self.counts = counts
        server = try PhotoServer(folder: samples) { _, photo in
            let numbers = photo?.split(separator: ".").compactMap { Int($0) } ?? []
            guard numbers.count == 2 else { return }
            counts.withLock { $0[numbers[0], default: [:]][numbers[1], default: 0] += 1 }
        }
        var developed: [String: Source] = [:]
        for file in Set(Self.files) {
            developed[file] = try Self.develop(samples + "/" + file, as: file, in: scratch)
        }
        sources = Self.files.compactMap { developed[$0] }
    }

    deinit { server.stop() }

    /// The file that the photo `index` of a batch is.
    func source(_ index: Int) -> Source { sources[index % sources.count] }

    /// The URL of the photo `index` of the batch with this number.
    func url(batch number: Int, _ index: Int) -> String { server.url(source(index).file) + "?photo=\(number).\(index)" }

    /// How often the photos of a batch were asked for, by index.
    func requests(batch number: Int) -> [Int: Int] { counts.withLock { $0[number] ?? [:] } }

    /// Forgets how often the photos of a batch were asked for.
    func forget(batch number: Int) { counts.withLock { $0[number] = nil } }

    private static func develop(_ path: String, as file: String, in scratch: String) throws -> Source {
        let result = scratch + "/developed-" + file
        let log = result + ".log"
        let process = try BoundProcess([TortureWorker.program, "develop", path, result], log: log)
        guard process.wait(within: .seconds(60)), let developed = FileManager.default.contents(atPath: result) else {
            process.stop()
            let said = FileManager.default.contents(atPath: log).map { String(decoding: $0, as: UTF8.self) } ?? ""
            throw TortureFailure("darkroom develop \(path) made no \(result): \(said)")
        }
        let original = try Data(contentsOf: URL(fileURLWithPath: path))
        return Source(
            file: file, byteCount: original.count, developed: developed,
            sha256: Hexadecimal.text(SHA256Digest.hash(of: [UInt8](developed))))
    }
}
