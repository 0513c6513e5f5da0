import DarkroomModel

/// The state of a batch in a worker that has operations of the batch.
struct LocalBatch {
    /// The largest number of photos in an operation of the batch.
    let operationSize: Int
    /// The last flags, priority and focus that this worker received.
    private(set) var controls: BatchControls
    private(set) var hold: Hold
    /// The local operations of the batch, in the order of their claims.
    var operations: [HeldOperation] = []
    /// The operations with photos to start: first the operations in the focus, then the other operations, each in the
    /// order of their claims.
    var toBegin: [HeldOperation] = []
    /// The number of photos in `toBegin` that have not been started.
    var unbegun = 0
    /// Downloaded photos that may be filtered, in the order of their filtration. Photos in the focus are filtered
    /// first, regardless of their positions.
    var ready: ArraySlice<PhotoTask> = []
    /// Downloaded photos that must not be filtered now, since their operations are held.
    var aside: ArraySlice<PhotoTask> = []
    /// The number of photos in progress: started, and without an outcome yet.
    var begun = 0
    /// The photos in progress whose download is about to start or receives its body.
    private(set) var downloads = 0
    /// The photos in `downloads` whose download is about to start.
    private(set) var queued = 0
    /// The photos in progress that wait for a host name, a connection, the first byte or room in memory.
    private(set) var waiting = 0
    /// The photos in `waiting` that wait for the first byte.
    private(set) var requested = 0
    /// The photos in `waiting` that wait for room in memory.
    private(set) var arrived = 0
    /// The photos in progress that are in the image filtration queue or being filtered.
    var filters = 0
    /// The virtual time of the batch, see ``RunQueues``.
    var virtualTime: Int {
        get { virtualTime(after: 0) }
        set { virtualStart += newValue - virtualTime }
    }
    /// The number of photos that were filtered, or that failed before their filtration.
    var served = 0
    private(set) var virtualStart = 0
    /// Whether too many photos are `waiting`, so that no photo is started until one of them continues.
    private(set) var isStalled = false

    mutating func apply(_ controls: BatchControls, _ hold: Hold) {
        self.controls = controls
        self.hold = hold
    }

    /// The number of downloaded photos that must not be filtered now.
    var parked: Int { aside.count + (hold.allowsFilters ? 0 : ready.count) }

    /// The number of photos in progress, excluding `parked` and `waiting` photos.
    var running: Int { begun - parked - waiting }

    var rank: Int { controls.priority.rank }
    var hasPhotosToBegin: Bool { hold.allowsDownloads && !isStalled && !toBegin.isEmpty }
    var hasPhotosToFilter: Bool { hold.allowsFilters && !ready.isEmpty }
    /// Whether the batch competes for filtrations, because it has photos that may be filtered now or after their
    /// downloads.
    var competes: Bool { hold.allowsFilters && (hasPhotosToBegin || hasPhotosToFilter) }

    /// The contribution of the batch to the load of its priority.
    var load: Load {
        Load(
            active: running, downloads: downloads, carrying: downloads - queued, waiting: waiting, requested: requested,
            arrived: arrived, stalled: isStalled ? 1 : 0, filters: filters)
    }

    /// The values of the batch that the run queues use.
    var share: RunQueues.Share { .init(rank: rank, load: load, competes: competes) }

    /// - Parameter maxWaiting: the maximum number of `waiting` photos.
    mutating func updateStall(maxWaiting: Int) { isStalled = waiting >= maxWaiting }

    /// Counts a photo whose download enters `stage` (`change` is 1) or leaves it (-1).
    mutating func count(_ stage: PhotoEntry.Stage, _ change: Int) {
        switch stage {
        case .queued:
            downloads += change
            queued += change
        case .downloading: downloads += change
        case .waiting: waiting += change
        case .requested:
            waiting += change
            requested += change
        case .arrived:
            waiting += change
            arrived += change
        case .ready, .filterQueued, .filtering, .placing: break
        }
    }

    func urgency(of index: Int) -> Urgency {
        Urgency(priority: controls.priority, isInFocus: controls.focus?.photos.contains(index) ?? false)
    }

    /// Removes and returns the downloaded photo to filter next: the first photo in the focus, or else the first photo.
    mutating func popReady() -> PhotoTask? {
        if let focus = controls.focus?.photos,
            let place = ready.firstIndex(where: { focus.contains($0.record.index) })
        {
            return ready.remove(at: place)
        }
        return ready.popFirst()
    }

    /// The virtual time that the batch will have after `photos` more photos, see ``RunQueues``.
    func virtualTime(after photos: Int) -> Int { virtualStart + 2 * (served + photos) - min(served + photos, 100) }
}
