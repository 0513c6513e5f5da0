import DarkroomModel
import DarkroomStore

/// The state of a batch of which the worker has operations.
struct LocalBatch {
    /// The most photos that an operation of the batch has.
    let operationSize: Int
    /// The last flags, priority and focus that this worker received.
    private(set) var controls: BatchControls
    private(set) var hold: Hold
    /// All its local operations, in the order of their claims.
    var operations: [HeldOperation] = []
    /// The operations with photos that may begin: first the operations with photos in the focus, then in the order of their claims.
    var toBegin: [HeldOperation] = []
    /// How many photos of `toBegin` are left to begin.
    var unbegun = 0
    /// Downloaded photos that may be filtered, in order.
    var ready: ArraySlice<PhotoTask> = []
    /// Downloaded photos of operations that are held.
    var aside: ArraySlice<PhotoTask> = []
    /// Photos that have begun and not ended.
    var begun = 0
    /// Of those, the ones whose download runs or is about to.
    var downloads = 0
    /// Of those, the ones whose download waits for its host or for another attempt.
    var waiting = 0
    /// Of those, the ones in the local queue of filters, or being filtered.
    var filters = 0
    /// The virtual time of the batch, see ``RunQueues``.
    var virtualTime = 0
    /// Whether the most photos wait for their hosts that may: no further photo begins until one of them continues.
    private(set) var isStalled = false

    mutating func apply(_ controls: BatchControls, _ hold: Hold) {
        self.controls = controls
        self.hold = hold
    }

    /// Downloaded photos that may not be filtered now.
    var parked: Int { aside.count + (hold.allowsFilters ? 0 : ready.count) }

    /// Photos that have begun and not ended, without parked photos and photos that wait for their host.
    var running: Int { begun - parked - waiting }

    var rank: Int { controls.priority.rank }
    var hasPhotosToBegin: Bool { hold.allowsDownloads && !isStalled && !toBegin.isEmpty }
    var hasPhotosToFilter: Bool { hold.allowsFilters && !ready.isEmpty }
    /// Whether the batch competes for filters: it has photos that may be filtered, now or after their downloads.
    var competes: Bool { hold.allowsFilters && (hasPhotosToBegin || hasPhotosToFilter) }

    /// The batch's part of the load of its priority.
    var load: Load {
        Load(active: running, downloads: downloads, waiting: waiting, stalled: isStalled ? 1 : 0, filters: filters)
    }

    /// The part of the batch in the run queues.
    var share: RunQueues.Share { .init(rank: rank, load: load, competes: competes) }

    /// - Parameter maxWaiting: how many of its photos may wait for their hosts.
    mutating func updateStall(maxWaiting: Int) { isStalled = waiting >= maxWaiting }

    /// Removes a photo from the count that it was in before its download ended.
    mutating func endDownload(_ stage: PhotoEntry.Stage) {
        if stage == .waiting { waiting -= 1 } else { downloads -= 1 }
    }

    func urgency(of index: Int) -> Urgency {
        Urgency(priority: controls.priority, isInFocus: controls.focus?.photos.contains(index) ?? false)
    }

    /// Removes and returns the downloaded photo to filter next: the first one in the focus, or else the first one.
    mutating func popReady() -> PhotoTask? {
        if let focus = controls.focus?.photos,
            let place = ready.firstIndex(where: { focus.contains($0.record.index) })
        {
            return ready.remove(at: place)
        }
        return ready.popFirst()
    }
}
