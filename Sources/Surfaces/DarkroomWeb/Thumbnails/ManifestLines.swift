import Darkroom
import DarkroomConcurrency
import DarkroomStorage
import Foundation

/// Finds the manifest lines of photos.
///
/// Pages ask for many photos of the same operation at once, so the lines of an operation are kept for a short time.
final class ManifestLines: Sendable {
    private struct Key: Hashable {
        let batch: BatchID
        let round: Int
        let operation: Int
    }

    private struct Lines {
        let byIndex: [Int: ManifestLine]
        let read: ContinuousClock.Instant
        /// The size in bytes, which depends on texts that other users can make long.
        let bytes: Int
    }

    private static let livesFor = Duration.seconds(2)
    private static let mostBytes = 32 << 20

    private let operations = Locked<[Key: Lines]>([:])
    /// With these locks, one thread reads an operation, and the others then use its lines. Operations may share a lock.
    private let readers = (0..<16).map { _ in NSLock() }

    /// The line of a photo; nil if the manifest does not contain it. Blocks.
    func line(of index: Int, _ batch: BatchFacts, in manifest: any ManifestSource) throws -> ManifestLine? {
        let asked = ContinuousClock.now
        let operation = index / batch.options.operationSize + 1
        let key = Key(batch: batch.id, round: batch.round, operation: operation)
        if let line = known(key, since: asked - Self.livesFor)?.byIndex[index] { return line }
        return try readers[Int(key.hashValue.magnitude % UInt(readers.count))].withLock {
            if let lines = known(key, since: asked) { return lines.byIndex[index] }
            let lines = try read(operation, of: batch, in: manifest)
            keep(lines, for: key)
            return lines.byIndex[index]
        }
    }

    private func known(_ key: Key, since time: ContinuousClock.Instant) -> Lines? {
        operations.withLock { $0[key] }.flatMap { $0.read >= time ? $0 : nil }
    }

    private func read(_ operation: Int, of batch: BatchFacts, in manifest: any ManifestSource) throws -> Lines {
        let began = ContinuousClock.now
        var part = try manifest.part(ManifestParts.number(of: operation), of: batch.id)
        let lines = try part.lines(ofOperation: operation)
        return Lines(
            byIndex: Dictionary(lines.map { ($0.index, $0) }) { $1 }, read: began,
            bytes: lines.reduce(0) { $0 + 1000 + $1.name.utf8.count + $1.url.utf8.count + ($1.detail ?? "").utf8.count }
        )
    }

    private func keep(_ lines: Lines, for key: Key) {
        operations.withLock { operations in
            operations = operations.filter { .now - $0.value.read < Self.livesFor }
            let bytes = operations.values.reduce(0) { $0 + $1.bytes }
            if bytes + lines.bytes <= Self.mostBytes { operations[key] = lines }
        }
    }
}
