import DarkroomCoding
import DarkroomFiles
import DarkroomModel

@testable import DarkroomStorage

/// The results of a claimed operation in memory.
final class MemorySink: OperationSink {
    private let batch: MemoryStorage
    private let opening: MemoryOpening
    let storage: any HeldStorage
    private let held: HeldOperation
    private let worker: String
    private let earlier: PastLines

    var past: [[UInt8]?] { earlier.lines }
    private var place: MemoryPlace { batch.place }
    private var entry: MemoryEntry { MemoryEntry(held) }

    init(
        _ storage: any HeldStorage, _ batch: MemoryStorage, _ opening: MemoryOpening, _ held: HeldOperation,
        worker: String, past: PastLines
    ) {
        self.storage = storage
        self.batch = batch
        self.opening = opening
        self.held = held
        self.worker = worker
        earlier = past
    }

    func write(
        _ files: [MadeFile], of record: PhotoRecord, attempt: Int, isWanted: () -> Bool
    ) throws(StorageFault) -> [ManifestLine.File]? {
        let paths = zip(batch.files.kinds, files).map { batch.files.path(of: record, $0, ending: $1.ending) }
        let names = paths.map { "\($0) \(held.fencingToken) \(worker) \(attempt)" }
        let total = files.reduce(0) { $0 + $1.byteCount }
        var digests: [String] = []
        do throws(MemoryFailure) {
            for (position, file) in files.enumerated() {
                let bytes = try file.bytes
                digests.append(Hexadecimal.text(SHA256Digest.hash(of: bytes)))
                let remains = MemoryRemains(
                    file: MemoryFile(bytes: bytes, time: file.time), batch: held.batch, index: record.index,
                    fencingToken: held.fencingToken)
                try place.disk.change(place.name, held.batch, adding: total) { $0.remains[names[position]] = remains }
            }
            guard isWanted() else {
                _ = remove(names)
                return nil
            }
            try giveNames(zip(names, paths).map { ($0, $1) })
        } catch {
            var fault = place.fault(error, byteCount: total, of: held.batch)
            fault.remains = remove(names) ? nil : names.last
            throw fault
        }
        return batch.files.described(files) { (paths[$0], digests[$0]) }
    }

    /// Gives all files their names, or none.
    private func giveNames(_ files: [(remains: String, path: String)]) throws(MemoryFailure) {
        try place.disk.change(place.name, held.batch) { (content) throws(MemoryFailure) in
            try content.requireHolder(held.batch)
            for (_, path) in files where content.blocked.contains(path) { throw .blocked(path) }
            for (remains, path) in files { content.files[path] = content.remains.removeValue(forKey: remains)?.file }
        }
    }

    /// Returns false if the files may still be there.
    private func remove(_ names: [String]) -> Bool {
        do throws(MemoryFailure) {
            try place.disk.change(place.name, held.batch) { content in
                for name in names { content.remains[name] = nil }
            }
            return true
        } catch {
            return false
        }
    }

    func write(_ lines: [[UInt8]?]) throws(StorageFault) {
        let text = Array(lines.compactMap { $0 }.joined())
        guard !text.isEmpty else { return }
        do throws(MemoryFailure) {
            try place.disk.change(place.name, held.batch, adding: text.count) { $0.entries[entry] = text }
        } catch {
            throw place.fault(error, byteCount: text.count, of: held.batch)
        }
    }

    var barriers: [StorageBarrier] {
        [
            StorageBarrier(domain: place.disk.domain, opened: opening.opened) {
                [place, opening, batch = held.batch] () throws(StorageFault) in
                let isLost = place.disk.withState { state in
                    let losses = state.losses.count { $0 >= opening.opened }
                    defer { opening.reported = losses }
                    return losses > opening.reported
                }
                guard isLost else { return }
                throw StorageFault(
                    .domain(place.disk.domain), detail: "\(place.location): files may be lost",
                    check: MemoryCheck(place: place, batch: batch))
            }
        ]
    }

    func loss() -> StorageFault? {
        do throws(MemoryFailure) {
            guard try place.disk.read(place.name, { $0?.generation }) != opening.generation else { return nil }
        } catch {
            return place.fault(error, byteCount: 0, of: held.batch)
        }
        let check = MemoryCheck(place: place, batch: held.batch)
        return check.fault(room: 0)
            ?? StorageFault(.file, detail: "\(place.location) has other content than before", check: check)
    }

    func removeOthers() {
        _ = try? place.disk.change(place.name, held.batch) { content in
            for token in earlier.obsolete(content.tokens(of: held.number, held.batch)) {
                content.entries[MemoryEntry(held.batch, operation: held.number, fencingToken: token)] = nil
            }
        }
    }

    func discard() { _ = try? place.disk.change(place.name, held.batch) { $0.entries[entry] = nil } }
}

extension MadeFile {
    fileprivate var bytes: [UInt8] {
        get throws(MemoryFailure) {
            var bytes: [UInt8] = []
            do throws(SystemFailure) {
                try withBytes { bytes = Array($0) }
            } catch {
                throw .unreadable(error.text)
            }
            return bytes
        }
    }
}
