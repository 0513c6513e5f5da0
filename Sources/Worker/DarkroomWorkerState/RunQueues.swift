import DarkroomModel

/// Counts of photos and batches, for one batch or for all batches of a priority together.
struct Load: Equatable {
    /// Photos in progress, except the `waiting` photos and the downloaded photos that must not be filtered now.
    var active = 0
    /// Photos whose download is about to start or receives its body.
    var downloads = 0
    /// Photos whose download receives its body.
    var carrying = 0
    /// Photos that wait for a host name, a connection, the first byte or room in memory.
    var waiting = 0
    /// The `waiting` photos that wait for the first byte.
    var requested = 0
    /// The `waiting` photos that wait for room in memory.
    var arrived = 0
    /// Batches that start no photo because too many of their photos are `waiting`.
    var stalled = 0
    /// Photos that are in the image filtration queue or being filtered.
    var filters = 0

    static func += (left: inout Load, right: Load) { left.add(right, 1) }
    static func -= (left: inout Load, right: Load) { left.add(right, -1) }

    private mutating func add(_ other: Load, _ sign: Int) {
        active += sign * other.active
        downloads += sign * other.downloads
        carrying += sign * other.carrying
        waiting += sign * other.waiting
        requested += sign * other.requested
        arrived += sign * other.arrived
        stalled += sign * other.stalled
        filters += sign * other.filters
    }
}

/// Decides which batch starts the next photo, and which batch filters the next photo.
///
/// DESIGN. Higher priorities come first. Among the batches of a priority, weighted fair queueing decides. Each batch
/// has a virtual time, which grows when a photo of the batch is filtered or fails before its filtration: by one for
/// each of the first 100 photos, by two for each later photo. Therefore a small batch gets two of three turns beside a
/// large batch, and a sequence of small batches leaves one of three turns to the large batch. The batch with the lowest
/// virtual time is next. A batch that is new or has photos again starts at the current virtual time of its priority,
/// and receives exactly its share from that moment on. The batches compete for filtrations. Photos are started ahead of
/// their filtration, so the choice of the batch that starts the next photo counts started photos as if they were
/// filtered.
struct RunQueues {
    /// The competing batches and their virtual times.
    struct Turns {
        private var entries: [(batch: BatchID, time: Int)] = []

        var batches: [BatchID] { entries.map(\.batch) }
        /// The batches, in ascending order of their times.
        var batchesInOrder: [BatchID] { entries.sorted { $0.time < $1.time }.map(\.batch) }
        var isEmpty: Bool { entries.isEmpty }
        /// The batch with the lowest time; if several batches have this time, the batch that was added first.
        var next: BatchID? { entries.min { $0.time < $1.time }?.batch }

        /// Sets the time of a batch. Removes the batch if the time is nil.
        mutating func set(_ id: BatchID, _ time: Int?) {
            let place = entries.firstIndex { $0.batch == id }
            switch (place, time) {
            case (let place?, let time?): entries[place].time = time
            case (let place?, nil): entries.remove(at: place)
            case (nil, let time?): entries.append((id, time))
            case (nil, nil): break
            }
        }
    }

    /// The values of a batch that the run queues use.
    struct Share {
        let rank: Int
        let load: Load
        /// Whether the batch competes for filtrations.
        let competes: Bool
    }

    /// The batches of a priority.
    struct Queue {
        var toBegin = Turns()
        var toFilter = Turns()
        var load = Load()
        /// The virtual time of the batch whose virtual time changed last.
        var virtualTime = 0
    }

    /// The queue of each priority, by its rank.
    private(set) var queues = [Queue](repeating: Queue(), count: BatchPriority.allCases.count)

    subscript(rank: Int) -> Load { queues[rank].load }

    /// The sum of one count, such as `active`, over the loads of all priorities with at least this rank.
    func total(_ part: (Load) -> Int, from rank: Int = 0) -> Int {
        queues[rank...].reduce(0) { $0 + part($1.load) }
    }

    /// The ranks with photos in progress.
    var activeRanks: [Int] { queues.indices.filter { queues[$0].load.active > 0 } }

    func activeRanks(below rank: Int) -> Int { queues[..<rank].count { $0.load.active > 0 } }

    var lowestActiveRank: Int? { queues.firstIndex { $0.load.active > 0 } }

    var highestRankToBegin: Int? { queues.lastIndex { !$0.toBegin.isEmpty } }

    /// The batches that have photos to start and whose priority has at least this rank.
    func batchesToBegin(from rank: Int = 0) -> some Sequence<BatchID> {
        queues[rank...].map(\.toBegin.batches).joined()
    }

    /// The batches of a rank that have photos to start, in the order of their turns.
    func batchesToBegin(of rank: Int) -> [BatchID] { queues[rank].toBegin.batchesInOrder }

    func nextToBegin(_ rank: Int) -> BatchID? { queues[rank].toBegin.next }

    func nextToFilter(_ rank: Int) -> BatchID? { queues[rank].toFilter.next }

    /// Called when the virtual time of a batch has changed. Sets the virtual time of the batch's rank to the same
    /// value.
    mutating func served(_ batch: LocalBatch) { queues[batch.rank].virtualTime = batch.virtualTime }

    mutating func changed(_ id: BatchID, from before: Share, to after: inout LocalBatch) {
        queues[before.rank].load -= before.load
        queues[after.rank].load += after.load
        let hasMoved = before.rank != after.rank
        if hasMoved || !before.competes {
            let present = queues[after.rank].virtualTime
            after.virtualTime = hasMoved ? present : max(after.virtualTime, present)
        }
        if hasMoved {
            queues[before.rank].toBegin.set(id, nil)
            queues[before.rank].toFilter.set(id, nil)
        }
        // `filters` is subtracted, because the virtual time already counts the photos in the image filtration queue.
        let begun = after.virtualTime(after: after.running + after.waiting - after.filters)
        queues[after.rank].toBegin.set(id, after.hasPhotosToBegin ? begun : nil)
        queues[after.rank].toFilter.set(id, after.hasPhotosToFilter ? after.virtualTime : nil)
    }
}
