import DarkroomModel

/// Numbers of photos and batches, of a batch or of all batches of a priority.
struct Load {
    /// Photos that have begun and not ended, without those that are parked or wait for their host.
    var active = 0
    /// Photos whose download runs or is about to.
    var downloads = 0
    /// Photos whose download waits for its host or for another attempt.
    var waiting = 0
    /// Batches of which as many photos wait for their hosts as may.
    var stalled = 0
    /// Photos in the local queue of filters, or being filtered.
    var filters = 0

    static func += (left: inout Load, right: Load) { left.add(right, 1) }
    static func -= (left: inout Load, right: Load) { left.add(right, -1) }

    private mutating func add(_ other: Load, _ sign: Int) {
        active += sign * other.active
        downloads += sign * other.downloads
        waiting += sign * other.waiting
        stalled += sign * other.stalled
        filters += sign * other.filters
    }
}

/// Which batch begins the next photo, and which one filters the next: for each priority a queue of batches for each of the two,
/// and the load.
struct RunQueues {
    /// By rank: batches with photos to begin.
    private var toBegin = [[BatchID]](repeating: [], count: BatchPriority.allCases.count)
    /// By rank: batches with downloaded photos to filter.
    private var toFilter = [[BatchID]](repeating: [], count: BatchPriority.allCases.count)
    /// By rank.
    private var loads = [Load](repeating: Load(), count: BatchPriority.allCases.count)
    /// Counts decisions between batches that compete for filters.
    private var filterTurns = 0

    /// The most batches that are compared for one decision: its cost does not depend on how many batches there are.
    private static let maxCompared = 8

    // MARK: Load

    /// The load of a rank.
    subscript(rank: Int) -> Load { loads[rank] }

    /// The sum of a part of the load, over all ranks or from one on.
    func total(_ part: KeyPath<Load, Int>, from rank: Int = 0) -> Int {
        loads[rank...].reduce(0) { $0 + $1[keyPath: part] }
    }

    /// How many ranks below one have photos that run.
    func activeRanks(below rank: Int) -> Int { loads[..<rank].count { $0.active > 0 } }

    /// The lowest rank with photos that run; nil when none runs.
    var lowestActiveRank: Int? { loads.firstIndex { $0.active > 0 } }

    // MARK: Queues

    /// The highest rank with photos to begin; nil when there are none.
    var highestRankToBegin: Int? { toBegin.lastIndex { !$0.isEmpty } }

    /// The batches with photos to begin, of all ranks or from one on.
    func batchesToBegin(from rank: Int = 0) -> some Sequence<BatchID> { toBegin[rank...].joined() }

    /// The batches of a rank with photos to begin, in the order of their turns.
    func batchesToBegin(of rank: Int) -> [BatchID] { toBegin[rank] }

    /// The batch of a rank that begins its next photo: the one with the fewest begun photos, so that photos that a large batch
    /// began before do not delay a small one. Nil when none has any.
    func nextToBegin(_ rank: Int, in batches: [BatchID: LocalBatch]) -> BatchID? {
        let queue = toBegin[rank]
        guard queue.count > 1 else { return queue.first }
        func begun(_ id: BatchID) -> Int { batches[id].map { $0.running + $0.waiting } ?? 0 }
        return queue.prefix(Self.maxCompared).min { begun($0) < begun($1) }
    }

    /// The batch of a rank that filters its next photo: two times of three the one with the least to do here, which soon needs
    /// no filter any more, and the third time the one that has waited longest. Nil when none has any.
    mutating func nextToFilter(_ rank: Int, in batches: [BatchID: LocalBatch]) -> BatchID? {
        let queue = toFilter[rank]
        guard queue.count > 1 else { return queue.first }
        filterTurns = (filterTurns + 1) % 3
        guard filterTurns != 0 else { return queue[0] }
        return queue.prefix(Self.maxCompared).min { left, right in
            (batches[left]?.leftHere ?? 0) < (batches[right]?.leftHere ?? 0)
        }
    }

    /// A batch has begun a photo: the others of its rank are next.
    mutating func moveBack(_ id: BatchID, toBegin rank: Int) { Self.moveBack(id, in: &toBegin[rank]) }

    /// A batch has a photo filtered: the others of its rank are next.
    mutating func moveBack(_ id: BatchID, toFilter rank: Int) { Self.moveBack(id, in: &toFilter[rank]) }

    private static func moveBack(_ id: BatchID, in queue: inout [BatchID]) {
        guard queue.count > 1, let place = queue.firstIndex(of: id) else { return }
        queue.append(queue.remove(at: place))
    }

    // MARK: Changes

    /// A batch has changed.
    mutating func changed(_ id: BatchID, from before: LocalBatch, to after: LocalBatch) {
        loads[before.rank] -= before.load
        loads[after.rank] += after.load
        let hasMoved = before.rank != after.rank
        if before.hasPhotosToBegin, hasMoved || !after.hasPhotosToBegin { toBegin[before.rank].removeAll { $0 == id } }
        if after.hasPhotosToBegin, hasMoved || !before.hasPhotosToBegin { toBegin[after.rank].append(id) }
        if before.hasPhotosToFilter, hasMoved || !after.hasPhotosToFilter {
            toFilter[before.rank].removeAll { $0 == id }
        }
        if after.hasPhotosToFilter, hasMoved || !before.hasPhotosToFilter { toFilter[after.rank].append(id) }
    }

    /// What is wrong with the queues and loads, if anything.
    func inconsistencies(_ batches: [BatchID: LocalBatch]) -> [String] {
        var wrong: [String] = []
        for rank in loads.indices {
            let own = batches.filter { $0.value.rank == rank }
            let expected = own.values.reduce(into: Load()) { $0 += $1.load }
            for part in [\Load.active, \.downloads, \.waiting, \.stalled, \.filters]
            where expected[keyPath: part] != loads[rank][keyPath: part] {
                wrong.append("load of rank \(rank): \(loads[rank]), expected \(expected)")
            }
            if toBegin[rank].sorted() != own.filter(\.value.hasPhotosToBegin).keys.sorted() {
                wrong.append("batches to begin of rank \(rank)")
            }
            if toFilter[rank].sorted() != own.filter(\.value.hasPhotosToFilter).keys.sorted() {
                wrong.append("batches to filter of rank \(rank)")
            }
        }
        return wrong
    }
}
