import DarkroomFiles
import DarkroomModel
import Foundation

@testable import DarkroomStorage

/// Why a ``MemoryDisk`` refuses a change.
enum MemoryFailure: Error {
    /// The disk cannot be reached.
    case away
    case readOnly
    case full
    /// The place has no reservation of the batch.
    case notReserved
    /// Another batch has taken the place.
    case taken(by: BatchID)
    /// This path cannot be written.
    case blocked(String)
    /// The bytes of a file or the lines of a claim could not be read.
    case unreadable(String)
}

/// A file with its name.
struct MemoryFile: Equatable {
    var bytes: [UInt8]
    var time: FileTime?
}

/// A file that has no name yet.
struct MemoryRemains: Equatable {
    let file: MemoryFile
    let batch: BatchID
    let index: Int
    let fencingToken: Int
}

/// The lines of a claimed operation.
struct MemoryEntry: Hashable {
    let batch: BatchID
    let operation: Int
    let fencingToken: Int

    init(_ batch: BatchID, operation: Int, fencingToken: Int) {
        self.batch = batch
        self.operation = operation
        self.fencingToken = fencingToken
    }

    init(_ held: HeldOperation) { self.init(held.batch, operation: held.number, fencingToken: held.fencingToken) }
}

/// What is stored in a place.
struct MemoryContent {
    /// The batches that have reserved the place, with the ids of their Redis data.
    var reserved: [BatchID: Int?] = [:]
    var holder: (batch: BatchID, taken: Int)?
    /// By path.
    var files: [String: MemoryFile] = [:]
    /// By a name that is unique among all attempts of all workers.
    var remains: [String: MemoryRemains] = [:]
    var entries: [MemoryEntry: [UInt8]] = [:]
    /// Paths that cannot be written.
    var blocked: Set<String> = []
    /// Entries that cannot be read.
    var unreadable: Set<MemoryEntry> = []
    /// Differs after other content was put in the place.
    var generation = 0
}

/// A disk in memory with places by name. All places of a disk are in one domain.
final class MemoryDisk: @unchecked Sendable {  // `state` is used only while `lock` is held
    struct State {
        var places: [String: MemoryContent] = [:]
        var free = Int.max
        var isAway = false
        var isReadOnly = false
        /// The times at which the disk lost the data that was not durable.
        var losses: [ContinuousClock.Instant] = []
    }

    let name: String
    private let lock = NSLock()
    private var state = State()

    private init(_ name: String) { self.name = name }

    // The disks of the process, so that every place with the same text has the same content.
    private static let registryLock = NSLock()
    nonisolated(unsafe) private static var registry: [String: MemoryDisk] = [:]  // used only while the lock is held

    static func named(_ name: String) -> MemoryDisk {
        registryLock.lock()
        defer { registryLock.unlock() }
        if let disk = registry[name] { return disk }
        let disk = MemoryDisk(name)
        registry[name] = disk
        return disk
    }

    /// Forgets a disk with all its places.
    static func remove(_ name: String) {
        registryLock.lock()
        defer { registryLock.unlock() }
        registry[name] = nil
    }

    var domain: StorageDomain { StorageDomain("memory \(name)") }

    func withState<Value, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Value
    ) throws(Failure) -> Value {
        lock.lock()
        defer { lock.unlock() }
        return try body(&state)
    }

    /// Reads the content of a place; nil if the place does not exist.
    func read<Value>(_ place: String, _ body: (MemoryContent?) -> Value) throws(MemoryFailure) -> Value {
        try withState { (state) throws(MemoryFailure) in
            guard !state.isAway else { throw .away }
            return body(state.places[place])
        }
    }

    /// Changes the content of a place that a batch has reserved.
    func change<Value>(
        _ place: String, _ batch: BatchID, adding bytes: Int = 0,
        _ body: (inout MemoryContent) throws(MemoryFailure) -> Value
    ) throws(MemoryFailure) -> Value {
        try withState { (state) throws(MemoryFailure) in
            guard !state.isAway else { throw .away }
            guard var content = state.places[place], content.reserved[batch] != nil else { throw .notReserved }
            guard !state.isReadOnly else { throw .readOnly }
            guard bytes <= state.free else { throw .full }
            let value = try body(&content)
            state.places[place] = content
            return value
        }
    }
}

extension MemoryContent {
    /// Takes the place for a batch, unless another batch took it with a higher number.
    mutating func take(_ batch: BatchID, _ number: Int) throws(MemoryFailure) {
        if let holder, (holder.taken, holder.batch) >= (number, batch) {
            guard holder.batch == batch else { throw .taken(by: holder.batch) }
            return
        }
        holder = (batch, number)
    }

    func requireHolder(_ batch: BatchID) throws(MemoryFailure) {
        guard let holder, holder.batch != batch else { return }
        throw .taken(by: holder.batch)
    }

    /// Removes what crashed workers have left of these photos.
    mutating func removeRemains(of batch: BatchID, _ records: [PhotoRecord], below fencingToken: Int) {
        let indexes = Set(records.map(\.index))
        remains = remains.filter {
            $0.value.batch != batch || !indexes.contains($0.value.index) || $0.value.fencingToken >= fencingToken
        }
    }

    /// The fencing tokens of an operation's entries.
    func tokens(of operation: Int, _ batch: BatchID) -> [Int] {
        entries.keys.filter { $0.operation == operation && $0.batch == batch }.map(\.fencingToken)
    }
}
