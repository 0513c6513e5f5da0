import DarkroomModel
import DarkroomStore

/// What the ledger knows of a batch of which it holds operations.
struct BatchInHand {
    /// Flags, priority and focus, as far as this worker has heard.
    private(set) var controls: BatchControls
    /// Whether a download may begin, by all flags.
    private(set) var mayDownload = true
    /// Whether a filtration may begin, by all flags.
    private(set) var mayFilter = true
    /// Whether its output cannot be written at the moment.
    private(set) var isBarred = false
    /// All operations that are held, as they were claimed.
    var operations: [HeldOperation] = []
    /// Those with photos that are left to begin and may: those that touch the focus first, else as they were claimed.
    var toBegin: [HeldOperation] = []
    /// How many photos of `toBegin` are left to begin.
    var unbegun = 0
    /// The most photos that an operation of the batch has.
    let operationSize: Int
    /// Downloaded photos that may go to the filters, in order.
    var ready: ArraySlice<PhotoInProgress> = []
    /// Downloaded photos of operations that are not to run: outside of the focus, or about to be handed back.
    var aside: ArraySlice<PhotoInProgress> = []
    /// Photos that have begun and not ended.
    var begun = 0
    /// Of those, the ones whose download runs or is about to.
    var downloads = 0
    /// Of those, the ones whose download waits for its host or for another attempt.
    var waiting = 0
    /// Whether as many photos wait for their hosts as may: nothing more of the batch begins until one of them does.
    private(set) var isStalled = false
    /// Of those, the ones in the local queue of filtrations, or running in it.
    var filtrations = 0
    private(set) var isInBeginLane = false
    private(set) var isInFilterLane = false

    init(_ controls: BatchControls, _ cluster: ClusterControls, isBarred: Bool, operationSize: Int) {
        self.controls = controls
        self.operationSize = operationSize
        take(controls, cluster, isBarred: isBarred)
    }

    /// Takes what holds now.
    mutating func take(_ controls: BatchControls, _ cluster: ClusterControls, isBarred: Bool) {
        self.controls = controls
        self.isBarred = isBarred
        let isSuspended = cluster.isSuspended || controls.isSuspended || controls.isCancelled || isBarred
        mayDownload = !isSuspended && !cluster.areDownloadsSuspended && !controls.areDownloadsSuspended
        mayFilter = !isSuspended && !cluster.areFiltrationsSuspended && !controls.areFiltrationsSuspended
    }

    /// Downloaded photos that may not be filtered as things stand.
    var parked: Int { aside.count + (mayFilter ? 0 : ready.count) }

    /// Photos that have begun and not ended, but for those that are parked or wait for their host.
    var running: Int { begun - parked - waiting }

    /// Photos of it that this worker has still to bring to their end.
    var leftHere: Int { begun - parked + unbegun }

    var rank: Int { controls.priority.rank }
    var hasPhotosToBegin: Bool { mayDownload && !isStalled && !toBegin.isEmpty }
    var hasPhotosToFilter: Bool { mayFilter && !ready.isEmpty }

    /// What it adds to what is counted by priority.
    private var load: Load {
        Load(
            rank: rank, active: running, filtrations: filtrations, downloads: downloads, waiting: waiting,
            stalled: isStalled ? 1 : 0)
    }

    /// What is counted by priority.
    struct Load {
        let rank: Int
        let active: Int
        let filtrations: Int
        let downloads: Int
        let waiting: Int
        let stalled: Int
    }

    /// What a change of a batch does to what is counted by priority, and to who is in turn.
    struct Effect {
        let before: Load
        let after: Load
        var leavesBeginLane = false
        var entersBeginLane = false
        var leavesFilterLane = false
        var entersFilterLane = false
    }

    /// Changes the batch; whoever counts applies the effect.
    /// - Parameter mostWaiting: how many photos of it may wait for their hosts.
    mutating func change(mostWaiting: Int, _ body: (inout BatchInHand) -> Void) -> Effect {
        let before = load
        body(&self)
        isStalled = waiting >= mostWaiting
        var effect = Effect(before: before, after: load)
        let hasMoved = before.rank != rank
        effect.leavesBeginLane = isInBeginLane && (!hasPhotosToBegin || hasMoved)
        effect.entersBeginLane = hasPhotosToBegin && (!isInBeginLane || hasMoved)
        isInBeginLane = hasPhotosToBegin
        effect.leavesFilterLane = isInFilterLane && (!hasPhotosToFilter || hasMoved)
        effect.entersFilterLane = hasPhotosToFilter && (!isInFilterLane || hasMoved)
        isInFilterLane = hasPhotosToFilter
        return effect
    }

    /// Takes a photo out of the count that it was in before it had its bytes.
    mutating func endDownload(_ stage: BegunPhoto.Stage) {
        if stage == .waiting { waiting -= 1 } else { downloads -= 1 }
    }

    /// How urgent a photo of the batch is.
    func urgency(of index: Int) -> Urgency {
        Urgency(priority: controls.priority, isInFocus: controls.focus?.photos.contains(index) ?? false)
    }

    /// Takes out the downloaded photo that is to be filtered next: of the focus, else the first.
    mutating func popReady() -> PhotoInProgress? {
        if let focus = controls.focus?.photos,
            let place = ready.firstIndex(where: { focus.contains($0.record.index) })
        {
            return ready.remove(at: place)
        }
        return ready.popFirst()
    }
}
