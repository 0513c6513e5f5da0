import DarkroomFiles
import DarkroomModel
import Foundation

@testable import DarkroomStorage

/// A place in the memory of this process: `memory://DISK/NAME`.
struct MemoryPlace: StoragePlace {
    static let beginning = "memory://"

    let location: String
    let disk: MemoryDisk
    let name: String

    init(location: String) {
        self.location = location
        let (disk, name) = Path.split(String(location.dropFirst(Self.beginning.count)))
        self.disk = MemoryDisk.named(disk ?? "")
        self.name = name
    }

    static func canonical(_ location: String) throws(StorageError) -> String {
        let components = Path.components(of: String(location.dropFirst(beginning.count)))
        guard (1...2).contains(components.count), !Path.climbs(location) else {
            throw StorageError(.denied, "the location must be \(beginning)DISK or \(beginning)DISK/NAME")
        }
        return beginning + components.joined(separator: "/")
    }

    func isIn(_ location: String) -> Bool {
        self.location == location || self.location.hasPrefix(location.last == "/" ? location : location + "/")
    }

    func hangDomain(_ links: [String: String]) -> String { "the memory disk \(disk.name)" }

    // MARK: Submitting

    func examine(renditions: [String]) throws(StorageError) -> Bool {
        let content = try storing { () throws(MemoryFailure) in
            try disk.withState { (state) throws(MemoryFailure) in
                guard !state.isAway else { throw .away }
                guard !state.isReadOnly else { throw .readOnly }
                return state.places[name]
            }
        }
        guard let content else { return false }
        for name in renditions where content.blocked.contains(name) || content.files[name] != nil {
            throw StorageError(.denied, "\(location): the rendition \(name) cannot be written")
        }
        return true
    }

    func reserve(for batch: BatchID, origin: Int?) throws(StorageError) {
        try storing { () throws(MemoryFailure) in
            try disk.withState { (state) throws(MemoryFailure) in
                guard !state.isAway else { throw .away }
                guard !state.isReadOnly else { throw .readOnly }
                guard state.free >= 4096 else { throw .full }
                var content = state.places[name] ?? MemoryContent()
                content.reserved[batch] = .some(origin ?? content.reserved[batch] ?? nil)
                state.places[name] = content
            }
        }
    }

    func reserve(for batch: BatchID, origin: Int?, in trusted: String) throws(StorageError) {
        guard isIn(trusted) else {
            throw StorageError(.denied, "\(location) is not in \(trusted)")
        }
        try reserve(for: batch, origin: origin)
    }

    func withdraw(_ batch: BatchID) {
        _ = try? disk.change(name, batch) { content in
            content.reserved[batch] = nil
            content.entries = content.entries.filter { $0.key.batch != batch }
            if content.reserved.isEmpty { content.holder = nil }
        }
    }

    func batches() throws(StorageError) -> [BatchID] {
        try storing { () throws(MemoryFailure) in try disk.read(name) { $0?.reserved.keys.sorted() ?? [] } }
    }

    func isUntouched(by batch: BatchID) -> Bool {
        (try? disk.read(name) { content in content.map { !$0.entries.keys.contains { $0.batch == batch } } ?? true })
            ?? false
    }

    func origin(of batch: BatchID) -> Int? { (try? disk.read(name) { $0?.reserved[batch] ?? nil }) ?? nil }

    var holder: (batch: BatchID, taken: Int)? {
        guard let content = try? disk.read(name, { $0 }), let holder = content.holder,
            content.reserved[holder.batch] != nil
        else { return nil }
        return holder
    }

    var lastTaken: Int { (try? disk.read(name) { $0?.holder?.taken ?? 0 }) ?? 0 }

    // MARK: Working

    func storage(
        of files: BatchFiles, taken: Int, _ rules: StorageRules, willAccess: (_ location: String) -> Void
    ) throws(Refusal) -> any BatchStorage {
        guard rules.places.isEmpty || rules.places.contains(where: isIn) else {
            throw Refusal(.outputNotAllowed, "\(location) is not a place to which this worker may write")
        }
        do throws(MemoryFailure) {
            try disk.withState { (state) throws(MemoryFailure) in
                guard !state.isAway else { throw .away }
                if rules.makesPlaces, state.places[name]?.reserved[files.batch] == nil {
                    state.places[name, default: MemoryContent()].reserved[files.batch] = .some(nil)
                }
                guard state.places[name]?.reserved[files.batch] != nil else { throw .notReserved }
            }
        } catch {
            throw Refusal(.folderMissing, "\(location) cannot be used: \(error)")
        }
        return MemoryStorage(files, in: self, taken: taken)
    }

    // MARK: Reading

    func manifestLocation(of batch: BatchID) -> String { "\(location)/manifest/\(batch)" }

    var results: any StoredResults { MemoryResults(place: self) }

    func results(in trusted: TrustedPlaces) -> (any StoredResults)? {
        trusted.locations.contains(where: isIn) ? results : nil
    }

    private func storing<Value>(
        _ body: () throws(MemoryFailure) -> Value
    ) throws(StorageError) -> Value {
        do throws(MemoryFailure) { return try body() } catch { throw StorageError(.denied, "\(location): \(error)") }
    }
}

extension MemoryPlace {
    /// Why a file could not be stored.
    func fault(_ failure: MemoryFailure, byteCount: Int, of batch: BatchID) -> StorageFault {
        let check = MemoryCheck(place: self, batch: batch)
        let detail = "\(location): \(failure)"
        return switch failure {
        case .full:
            StorageFault(.domain(disk.domain), .diskFull, detail: detail, room: 4 * byteCount, check: check)
        case .away, .readOnly: StorageFault(.domain(disk.domain), detail: detail, check: check)
        case .notReserved: StorageFault(.batch, detail: detail, check: check)
        case .taken: StorageFault(.batch, .folderTaken, detail: detail, check: check)
        case .blocked, .unreadable: StorageFault(.file, detail: detail, check: check)
        }
    }
}

struct MemoryCheck: StorageCheck {
    let place: MemoryPlace
    let batch: BatchID

    var location: String { place.location }

    func fault(room: Int) -> StorageFault? {
        do throws(MemoryFailure) {
            try place.disk.change(place.name, batch, adding: room) { (content) throws(MemoryFailure) in
                try content.requireHolder(batch)
            }
            return nil
        } catch {
            return place.fault(error, byteCount: room, of: batch)
        }
    }

    func retake(_ number: Int) {
        _ = try? place.disk.change(place.name, batch) { (content) throws(MemoryFailure) in
            try content.take(batch, number)
        }
    }

    func remove(_ remains: String) {
        _ = try? place.disk.change(place.name, batch) { $0.remains[remains] = nil }
    }
}
