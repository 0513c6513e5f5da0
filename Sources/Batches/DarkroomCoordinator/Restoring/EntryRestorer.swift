import DarkroomLists
import DarkroomModel
import DarkroomStore

/// Reads the list of a batch again, and writes the missing entries of operations that have ended with failed photos.
/// Redis keeps the entries of at most 10,000 of these operations, and of fewer in a namespace with many batches.
///
/// The restorer reads the list twice. First it compares the whole list, then it writes the missing entries. Only one
/// thread at a time may use a restorer.
final class EntryRestorer {
    /// The number of operations whose state codes are read in one call.
    private static let operationsOfAReading = 1000
    /// The number of entries that are sent in one pipeline.
    private static let entriesOfAPipeline = 20

    private let store: BatchStore
    private let batch: BatchFacts
    private let control: FeedControl
    /// The first bits of each operation's digest, to detect that the list changes between the two readings.
    private var fingerprints: [Int: UInt64] = [:]
    private var firstRead = 0
    private var stateCodes: [UInt8] = []

    init(store: BatchStore, batch: BatchFacts, control: FeedControl) {
        self.store = store
        self.batch = batch
        self.control = control
    }

    /// Reads the list once. Throws if the list differs from the list from which the batch was fed.
    func compare(_ list: some PhotoListSource) throws {
        var digest = ""
        let photos = try forEachOperation(of: list) { packer in
            let number = packer.number
            digest = packer.skip()
            if try hasFailures(number) { fingerprints[number] = Self.fingerprint(digest) }
        }
        // While a batch is being fed, its list may contain more photos than the batch.
        guard photos == batch.photos || (photos > batch.photos && !batch.sealed) else {
            throw differs(
                "it has \(photos > batch.photos ? "more" : "\(photos)") photos; the batch has \(batch.photos)")
        }
        guard digest == batch.feedDigest else {
            throw differs("it has the same number of photos, but other photos or another order")
        }
    }

    /// Reads the list again from its beginning and restores the missing entries.
    /// - Returns: the number of restored entries.
    func restore(_ list: some PhotoListSource) throws -> Int {
        var restored = 0
        var calls: [ScriptCall<RestoreEntryReply>] = []
        func send() throws {
            let replies = try control.retrying { try store.perform(calls) }
            guard !replies.contains(.gone) else {
                throw CoordinatorError(
                    .batchGone, "batch \(batch.id) is not in Redis any more: it was forgotten while its list was read")
            }
            restored += replies.count { $0 == .restored }
            calls.removeAll(keepingCapacity: true)
        }
        _ = try forEachOperation(of: list) { packer in
            guard let fingerprint = fingerprints[packer.number] else {
                _ = packer.skip()
                return
            }
            let packed = packer.pack()
            guard Self.fingerprint(packed.digest) == fingerprint else { throw differs("it changed while it was read") }
            calls.append(store.restoreEntry(batch.id, operation: packed.number, entry: packed.entry))
            if calls.count == Self.entriesOfAPipeline { try send() }
        }
        try send()
        return restored
    }

    /// Converts the first 64 bits of a hexadecimal digest to a number.
    private static func fingerprint(_ digest: String) -> UInt64 { UInt64(digest.prefix(16), radix: 16) ?? 0 }

    /// Packs the list into the operations of the batch. `body` must pack or skip each complete operation.
    /// - Returns: the number of photos in the list, but at most one more than the batch has.
    private func forEachOperation(
        of list: some PhotoListSource, _ body: (inout OperationPacker) throws -> Void
    ) throws -> Int {
        var packer = OperationPacker(size: batch.options.operationSize)
        var photos = 0
        try list.forEach { entry in
            photos += 1
            guard photos <= batch.photos else { return false }
            packer.append(entry)
            guard packer.isFull else { return true }
            try control.check()
            try body(&packer)
            return true
        }
        if packer.photos > 0 { try body(&packer) }
        return photos
    }

    /// Whether an operation has ended with failed photos.
    private func hasFailures(_ number: Int) throws -> Bool {
        let size = batch.options.operationSize
        if number < firstRead || stateCodes.count < (number - firstRead + 1) * size {
            firstRead = number
            let first = (number - 1) * size
            stateCodes = try control.retrying {
                try store.stateCodes(of: batch.id, in: first..<first + Self.operationsOfAReading * size)
            }
        }
        let start = (number - firstRead) * size
        let states = stateCodes[min(start, stateCodes.count)..<min(start + size, stateCodes.count)].map {
            PhotoState(stateCode: $0)
        }
        let isEnded = states.allSatisfy { $0?.isFinal == true }
        return isEnded && states.contains { if case .failed = $0 { true } else { false } }
    }

    private func differs(_ how: String) -> CoordinatorError {
        CoordinatorError(
            .listDiffers,
            "batch \(batch.id): this photo list is not the one it was fed from: \(how); give the same list, or submit this one "
                + "as a new batch")
    }
}

extension Coordinator {
    /// Writes the missing names and URLs of operations that have ended with failed photos, so that all failed photos of
    /// the batch can be retried.
    ///
    /// The list is read twice. The first time, it is compared with the batch. If the list differs, the call throws and
    /// changes nothing.
    /// - Returns: the number of operations whose names and URLs were written.
    package func restoreEntries(of id: BatchID, from list: some PhotoListSource) throws -> Int {
        let restorer = EntryRestorer(store: store, batch: try facts(of: id), control: control)
        try restorer.compare(list)
        try list.rewind()
        return try restorer.restore(list)
    }
}
