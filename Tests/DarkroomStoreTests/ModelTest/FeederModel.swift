import DarkroomModel

@testable import StoreInspection

/// The state of coordinators: the batches that they feed, and the next operation of each batch.
struct FeederModel {
    private(set) var batches: [Batch] = []
    private var expected: [BatchID: Int] = [:]
    private var submitted = 0

    struct Batch {
        var id: BatchID
        var options: BatchOptions
        /// The number of photos of the whole list.
        var photos: Int

        var operations: Int { (photos + options.operationSize - 1) / options.operationSize }

        /// The number of photos of operation `number`, or 0 after the last operation.
        func photos(of number: Int) -> Int {
            max(0, min(options.operationSize, photos - (number - 1) * options.operationSize))
        }
    }

    /// A batch with random settings. The model keeps the last eight batches, even if Redis has forgotten them.
    mutating func newBatch(_ random: inout ModelRandom) -> Batch {
        submitted += 1
        var options = BatchOptions()
        options.operationSize = random.chance(10) ? 50 : Int.random(in: 1...7, using: &random)
        options.window = random.pick([1, 2, 3, 5, 10_000])!
        options.priority = random.pick(BatchPriority.allCases)!
        options.lease = .seconds(random.pick([1500, 3500, 7500])!)
        options.retain = random.chance(20) ? nil : random.chance(20) ? .zero : .seconds(48 * 3600)
        options.output = random.pick(["", "", "/photos/a", "/photos/b"])!
        options.name = random.pick(["", "", "summer", "winter"])!
        options.afterSuccess = random.chance(40)
        options.originals = random.chance(25) ? "/originals" : ""
        options.webhook = random.chance(30) ? "https://example.org/done" : ""
        let photos = Int.random(in: 0...options.operationSize * 12, using: &random)
        let batch = Batch(id: BatchID("b\(submitted)")!, options: options, photos: photos)
        batches.append(batch)
        if batches.count > 8 { batches.removeFirst() }
        return batch
    }

    /// The number of the next operation to feed.
    func next(_ id: BatchID) -> Int { expected[id] ?? 1 }

    mutating func expects(_ id: BatchID, _ number: Int) { expected[id] = number }

    /// Records that the list of a batch has grown.
    mutating func grow(_ id: BatchID, to photos: Int) {
        for at in batches.indices where batches[at].id == id { batches[at].photos = photos }
    }

    /// Removes a batch that Redis does not have.
    mutating func drop(_ id: BatchID) { batches.removeAll { $0.id == id } }

    /// Feeds a batch from its beginning, because it was forgotten and submitted again.
    mutating func begin(_ batch: Batch) { expected[batch.id] = nil }
}
