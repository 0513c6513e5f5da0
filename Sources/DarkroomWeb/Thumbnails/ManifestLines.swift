import Darkroom
import DarkroomConcurrency
import DarkroomCoordinator

/// Finds the manifest lines of photos.
///
/// Pages ask for many photos of the same operation at once, so the lines of an operation are kept for a short time.
final class ManifestLines: Sendable {
    private struct Key: Hashable {
        let batch: BatchID
        let round: Int
        let operation: Int
    }

    private static let livesFor = Duration.seconds(2)
    private static let mostOperations = 64

    private let operations = Locked<[Key: (lines: [Int: ManifestLine], read: ContinuousClock.Instant)]>([:])

    /// The line of a photo; nil if the manifest does not contain it. Blocks.
    func line(of index: Int, _ batch: BatchFacts, in manifest: ManifestReader) throws -> ManifestLine? {
        let operation = index / batch.options.operationSize + 1
        let key = Key(batch: batch.id, round: batch.round, operation: operation)
        let known = operations.withLock { $0[key] }
        if let known, .now - known.read < Self.livesFor, let line = known.lines[index] { return line }
        var part = try manifest.part(operation / ManifestPart.size, of: batch.id)
        let lines = Dictionary(try part.lines(ofOperation: operation).map { ($0.index, $0) }) { $1 }
        operations.withLock { operations in
            if operations.count >= Self.mostOperations { operations = [:] }
            operations[key] = (lines, .now)
        }
        return lines[index]
    }
}
