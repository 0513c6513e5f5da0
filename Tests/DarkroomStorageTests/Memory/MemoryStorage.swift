import DarkroomCoding
import DarkroomFiles
import DarkroomModel

@testable import DarkroomStorage

/// The storage of a batch in a ``MemoryPlace``.
final class MemoryStorage: BatchStorage {
    let files: BatchFiles
    let place: MemoryPlace
    private let taken: Int

    init(_ files: BatchFiles, in place: MemoryPlace, taken: Int) {
        self.files = files
        self.place = place
        self.taken = taken
    }

    var isKept: Bool { true }

    func take() throws(Refusal) -> any HeldStorage {
        do throws(MemoryFailure) {
            let generation = try place.disk.change(place.name, files.batch) { (content) throws(MemoryFailure) in
                try content.take(files.batch, taken)
                return content.generation
            }
            return HeldMemory(self, generation)
        } catch {
            if case .taken = error { throw Refusal(.folderTaken, "\(place.location): \(error)") }
            throw Refusal(.other, "\(place.location): \(error)")
        }
    }

    func removeRemains(of held: HeldOperation, _ records: [PhotoRecord]) {
        guard held.fencingToken < .max else { return }
        removeRemains(records, below: held.fencingToken + 1)
    }

    func removeRemains(_ records: [PhotoRecord], below fencingToken: Int) {
        _ = try? place.disk.change(place.name, files.batch) {
            $0.removeRemains(of: files.batch, records, below: fencingToken)
        }
    }
}

/// A place in memory that the batch holds.
private final class HeldMemory: HeldStorage {
    private let storage: MemoryStorage
    private let opening: MemoryOpening

    init(_ storage: MemoryStorage, _ generation: Int) {
        self.storage = storage
        opening = MemoryOpening(generation)
    }

    var domains: Set<StorageDomain> { [storage.place.disk.domain] }

    func begin(_ claimed: ClaimedOperation, _ records: [PhotoRecord], worker: String) -> any OperationSink {
        let past = MemoryPast(claimed, records, storage)
        if claimed.leaseExpiries > 0 { storage.removeRemains(records, below: claimed.held.fencingToken) }
        return MemorySink(self, storage, opening, claimed.held, worker: worker, past)
    }
}

/// When a place was opened, and which losses its barriers have reported.
final class MemoryOpening: @unchecked Sendable {  // `reported` is used only while the disk's lock is held
    let generation: Int
    let opened = ContinuousClock.now
    var reported = 0

    init(_ generation: Int) { self.generation = generation }
}

/// The results of earlier claims of an operation.
struct MemoryPast {
    private(set) var lines: [[UInt8]?]
    /// Fencing tokens above the token of the claim.
    private(set) var forgotten: [Int] = []
    /// Whether the place could not be read.
    private(set) var isUnread = false

    init(_ claimed: ClaimedOperation, _ records: [PhotoRecord], _ storage: MemoryStorage) {
        let (held, files) = (claimed.held, storage.files)
        lines = records.map { _ in nil }
        guard !records.isEmpty else { return }
        guard let content = try? storage.place.disk.read(storage.place.name, { $0 ?? MemoryContent() }) else {
            isUnread = true
            return
        }
        let states = claimed.stateCodes.map { PhotoState(stateCode: $0) ?? .new }
        let decoder = UntrustedJSON()
        let tokens = content.tokens(of: held.number, held.batch)
        forgotten = tokens.filter { $0 > held.fencingToken }
        var found: [Int: ManifestLine] = [:]
        for token in tokens where token != held.fencingToken {
            let entry = MemoryEntry(batch: held.batch, operation: held.number, fencingToken: token)
            for text in content.entries[entry, default: []].split(separator: 10) {
                guard let line = try? decoder.decode(ManifestLine.self, from: text), line.batch == held.batch,
                    let position = records.firstIndex(where: { $0.index == line.index }),
                    states[position].isFinal, line.state == states[position].word, found[position] == nil
                else { continue }
                found[position] = line
            }
        }
        lines = records.indices.map { position in
            guard states[position].isFinal else { return nil }
            let line = found[position] ?? Self.remade(records[position], states[position], files, content)
            return line.text(redactingQuery: files.redactsQueries)
        }
    }

    private static func remade(
        _ record: PhotoRecord, _ state: PhotoState, _ files: BatchFiles, _ content: MemoryContent
    ) -> ManifestLine {
        var line = ManifestLine(batch: files.batch, record: record, state: state)
        guard state == .filtered else { return line }
        let found = files.kinds.compactMap { kind in
            kind.endings(record).lazy.map { files.path(of: record, kind, ending: $0) }.compactMap { path in
                content.files[path].map { file in
                    ManifestLine.File(
                        rendition: kind.rendition, filters: kind.filters, file: path, bytes: file.bytes.count,
                        sha256: Hexadecimal.text(SHA256Digest.hash(of: file.bytes)))
                }
            }.first
        }
        if !found.isEmpty { line.note(found) }
        return line
    }
}
