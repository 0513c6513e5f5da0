import DarkroomModel
import DarkroomStore

/// Reads a batch's list again and gives operations that have ended with failed photos their entries back, where Redis has
/// not kept them: it keeps those of the first 10,000 such operations.
///
/// It reads the list twice: first all is compared, then what is missing is written. One thread at a time may use it.
final class EntryRestorer {
    /// Operations whose letters are read at once.
    private static let operationsOfAReading = 1000
    /// Entries that are sent at once.
    private static let entriesOfAPipeline = 20

    private let store: BatchStore
    private let batch: BatchFacts
    private let control: FeedControl
    /// For each operation with failed photos a part of the chained digest up to it: a list may change while it is read.
    private var fingerprints: [Int: UInt64] = [:]
    private var firstRead = 0
    private var stateCodes: [UInt8] = []

    init(store: BatchStore, batch: BatchFacts, control: FeedControl) {
        self.store = store
        self.batch = batch
        self.control = control
    }

    /// Reads the list once and throws when it is not the one that the batch was fed from.
    func compare(_ list: some PhotoListSource) throws {
        var digest = ""
        let photos = try forEachOperation(of: list) { packer in
            let number = packer.number
            digest = packer.skip()
            if try hasFailures(number) { fingerprints[number] = Self.fingerprint(digest) }
        }
        // While a batch is fed, its list goes on behind what is fed.
        guard photos == batch.photos || (photos > batch.photos && !batch.sealed) else {
            throw differs(
                "it has \(photos > batch.photos ? "more" : "\(photos)") photos, the batch has \(batch.photos)")
        }
        guard digest == batch.feedDigest else { throw differs("it has as many photos, but others or in another order") }
    }

    /// Reads the list again, from its beginning, and restores what is missing.
    /// - Returns: how many operations have their entry again.
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

    /// The first 64 bits of a digest in hexadecimal.
    private static func fingerprint(_ digest: String) -> UInt64 { UInt64(digest.prefix(16), radix: 16) ?? 0 }

    /// Packs the list as it was fed, and calls `body` for each operation that is complete, which takes it from the packer.
    /// - Returns: the photos of the list; where it has more than the batch, one more than that.
    private func forEachOperation(
        of list: some PhotoListSource, _ body: (inout OperationPacker) throws -> Void
    ) throws -> Int {
        var packer = OperationPacker(size: batch.options.operationSize)
        var photos = 0
        var failure: (any Error)?
        try list.read { name, url in
            photos += 1
            guard photos <= batch.photos else { return false }
            packer.append(name: name, url: url)
            guard packer.isFull else { return true }
            do {
                try control.check()
                try body(&packer)
            } catch {
                failure = error
            }
            return failure == nil
        }
        if let failure { throw failure }
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
    /// Gives the operations of a batch that have ended with failed photos their names and URLs again where Redis has not
    /// kept them, so that all its failed photos can be retried.
    ///
    /// The list is compared with what was fed before anything is changed; one that differs is an error. It is read twice.
    /// - Returns: how many operations have their names and URLs again.
    package func restoreEntries(of id: BatchID, from list: some PhotoListSource) throws -> Int {
        let restorer = EntryRestorer(store: store, batch: try facts(of: id), control: control)
        try restorer.compare(list)
        try list.rewind()
        return try restorer.restore(list)
    }
}
