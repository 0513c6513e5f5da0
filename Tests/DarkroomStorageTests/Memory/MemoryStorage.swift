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

    func begin(
        _ claimed: ClaimedOperation, _ records: [PhotoRecord], worker: String
    ) throws(StorageFault) -> any OperationSink {
        let past = try PastLines(claimed, records, storage.files) { () throws(StorageFault) in
            try MemoryPast(claimed.held, storage.place)
        }
        if claimed.leaseExpiries > 0 { storage.removeRemains(records, below: claimed.held.fencingToken) }
        return MemorySink(self, storage, opening, claimed.held, worker: worker, past: past)
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
struct MemoryPast: PastResults {
    private let held: HeldOperation
    private let place: MemoryPlace
    private let content: MemoryContent

    init(_ held: HeldOperation, _ place: MemoryPlace) throws(StorageFault) {
        self.held = held
        self.place = place
        do throws(MemoryFailure) {
            content = try place.disk.read(place.name) { $0 ?? MemoryContent() }
        } catch {
            throw place.fault(error, byteCount: 0, of: held.batch)
        }
    }

    var fencingTokens: [Int] { content.tokens(of: held.number, held.batch) }

    func text(fencingToken: Int) throws(StorageFault) -> [UInt8]? {
        let entry = MemoryEntry(held.batch, operation: held.number, fencingToken: fencingToken)
        guard !content.unreadable.contains(entry) else {
            let check = MemoryCheck(place: place, batch: held.batch)
            throw StorageFault(.batch, detail: "\(place.location): the lines of \(entry) cannot be read", check: check)
        }
        return content.entries[entry]
    }

    func file(at path: String) -> (byteCount: Int, sha256: String)? {
        content.files[path].map { ($0.bytes.count, Hexadecimal.text(SHA256Digest.hash(of: $0.bytes))) }
    }
}
