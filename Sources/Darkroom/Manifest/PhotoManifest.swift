import DarkroomCoordinator
import Foundation

/// What became of one photo, as the manifest beside the photos keeps it.
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
        /// The SHA-256 of the file, hexadecimal; nil if it is not known.
        public let sha256: String?
    }

    /// The batch.
    public let batch: BatchID
    /// The photo's index, name and URL. The URL has no user and password, and no query if the batch leaves queries out.
    public let record: PhotoRecord
    /// The final state.
    public let state: PhotoState
    /// What exactly was found if the photo failed; nil if the reason says it all.
    public let detail: String?
    /// The file that was written; nil if the photo was not filtered or the batch writes no files.
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

/// Reads what became of the photos in an output folder from the manifest in it, without Redis. Workers may be writing there.
public struct PhotoManifest: Sendable {
    private let reader: ManifestReader
    private let output: String

    /// The manifest in the folder that photos were written to. Nothing is read yet.
    public init(output: String) {
        reader = ManifestReader(output: output)
        self.output = output
    }

    /// Reads which batches have written there, in the order of their submission. Blocks.
    /// - Throws: ``DarkroomError`` with the code `manifestUnreadable`.
    public func batches() throws -> [BatchID] { try reading { try reader.batches() } }

    /// Calls `body` with every entry of a batch in the order of the photo list, or of all batches, one after the other. Photos that are not
    /// final have no entry. Blocks; it holds the entries of one operation at a time.
    /// - Parameters:
    ///   - batch: the batch; nil is all.
    ///   - body: what it throws ends the reading, and is thrown.
    /// - Throws: ``DarkroomError`` with the code `manifestUnreadable`, and what `body` throws.
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
