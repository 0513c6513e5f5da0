import DarkroomCoordinator
import Foundation

/// The result of one photo from the manifest.
public struct ManifestEntry: Sendable, Equatable {
    /// A file that was written for a photo.
    public struct File: Sendable, Equatable {
        /// The path relative to the output folder.
        public let path: String
        /// The size in bytes.
        public let bytes: Int
        /// Width in pixels; nil if the file is no picture.
        public let width: Int?
        /// Height in pixels; nil if the file is no picture.
        public let height: Int?
        /// The SHA-256 of the file, hexadecimal; nil if it is unknown.
        public let sha256: String?
    }

    /// The batch.
    public let batch: BatchID
    /// The photo's index, name and URL. The URL has no user and password, and no query if the batch has
    /// ``BatchOptions/redactURLs``.
    public let record: PhotoRecord
    /// The final state.
    public let state: PhotoState
    /// The details if the photo failed; nil if the reason is sufficient.
    public let detail: String?
    /// The written file; nil if the photo was not filtered or the batch writes no files.
    public let file: File?

    init(_ line: ManifestLine) {
        batch = line.batch
        record = PhotoRecord(index: line.index, name: line.name, url: line.url)
        state =
            switch line.state {
            case PhotoState.filtered.word: .filtered
            case PhotoState.cancelled.word: .cancelled
            default: .failed(line.reason.flatMap(FailureReason.init(word:)) ?? .other)
            }
        detail = line.detail
        file = line.file.map {
            File(path: $0, bytes: line.bytes ?? 0, width: line.width, height: line.height, sha256: line.sha256)
        }
    }
}

/// Reads the results of the photos in an output folder from its manifest, without Redis. Workers may write there meanwhile.
public struct PhotoManifest: Sendable {
    private let reader: ManifestReader
    private let output: String

    /// The manifest in an output folder. Nothing is read yet.
    public init(output: String) {
        reader = ManifestReader(output: output)
        self.output = output
    }

    /// Reads which batches have written to the folder, in the order of their submission. Blocks.
    /// - Throws: ``DarkroomError`` with the code `manifestUnreadable`.
    public func batches() throws -> [BatchID] { try reading { try reader.batches() } }

    /// Calls `body` with every entry of a batch in the order of the photo list, or of all batches, one after the other. Photos
    /// that are not final have no entry. Blocks. Only the entries of one operation are in memory at a time.
    /// - Parameters:
    ///   - batch: the batch; nil for all.
    ///   - body: called with each entry. An error from it ends the reading.
    /// - Throws: ``DarkroomError`` with the code `manifestUnreadable`, and the errors of `body`.
    public func forEach(of batch: BatchID? = nil, _ body: (ManifestEntry) throws -> Void) throws {
        for id in try batch.map({ [$0] }) ?? batches() {
            try reading { try reader.forEachLine(of: id) { try body(ManifestEntry($0)) } }
        }
    }

    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as ManifestError {
            throw DarkroomError(error, "read the manifest of \(output)")
        }
    }
}
