import DarkroomHosts
import DarkroomModel

/// Handles photos from their start to the end of their download.
extension WorkerState {
    /// The largest number of photos in progress, excluding photos that wait for a host name, a connection, the first
    /// byte or room in memory. The number is so large that no filtration waits for downloads.
    var window: Int { limits.downloads + 4 * limits.filtrations }
    /// The number of photos that may start in addition to `window`, for each lower priority that has running photos.
    var reserve: Int { 4 * limits.filtrations }
    /// The largest number of photos of a priority and all higher priorities that wait for a host name, a connection,
    /// the first byte or room. A batch starts no photo while its waiting photos are at least four times as many as the
    /// unused part of this number. Therefore a single batch gets most of these places, and other batches always find
    /// some places.
    static let maxWaiting = 2_000
    /// The number of waiting photos that a batch may always have.
    static let leastWaiting = 4
    /// For each running download, the number of photos that may wait for their first byte.
    private static let requestsPerDownload = 16
    /// While bodies use little memory, one in this number of requested photos is expected to arrive soon.
    private static let requestsPerArrival = 4
    /// A batch with suspended filtrations starts no downloads while it has this many downloaded photos in memory.
    private static let maxParked = 4096

    // MARK: Scheduling

    /// Starts photos and queues filtrations if there is room.
    mutating func schedule(urgently: Bool, _ effects: inout [Effect]) {
        let neededRoom = needsRoom
        let begun = beginDownloads(urgently: urgently)
        for job in queueFilters() { effects.append(.filter(job)) }
        for task in begun { effects.append(.download(task, urgency(of: task))) }
        if needsRoom, !neededRoom { effects.append(.wakeReports) }
        if !begun.isEmpty || mayWantMore, wantsMore { effects.append(.wakeClaims) }
        mayWantMore = false
    }

    /// Starts photos if there is room. Higher priorities come first; within a priority, ``RunQueues`` decides.
    mutating func beginDownloads(urgently: Bool) -> [PhotoTask] {
        guard !isStopping, let highest = queues.highestRankToBegin else { return [] }
        // While enough photos wait for filtration, several photos are started at a time, because each call that starts
        // photos wakes 3 threads.
        let free = window - queues.total(\.active)
        let toFilter = photos.photosHeld - parked - photos.abandonedCount
        let isMoreUrgent = queues.lowestActiveRank.map { $0 < highest } ?? true
        guard urgently || isMoreUrgent || free >= window / 5 || toFilter < 4 * limits.filtrations else { return [] }
        var begun: [PhotoTask] = []
        while let task = beginNext() { begun.append(task) }
        return begun
    }

    /// The number of downloaded photos that must not be filtered now.
    private var parked: Int { photos.count - queues.total(\.active) - queues.total(\.waiting) }

    package func urgency(of task: PhotoTask) -> Urgency {
        batches[task.operation.batch]?.urgency(of: task.record.index) ?? Urgency(priority: .normal, isInFocus: false)
    }

    private mutating func beginNext() -> PhotoTask? {
        for rank in BatchPriority.allCases.indices.reversed() {
            guard let first = queues.nextToBegin(rank) else { continue }
            // The window grows by a reserve for each lower priority with running photos, so that those photos do not
            // block this priority.
            let lower = queues.activeRanks(below: rank)
            // Photos in the focus use the same reserve. Otherwise they would wait for photos that started earlier.
            let focused = queues.batchesToBegin(of: rank).first { hasFocusedPhotosToBegin($0) }
            let room = window + (focused == nil ? 0 : reserve)
            guard queues.total(\.active, from: rank) < room,
                queues.total(\.active) < room + lower * reserve,
                queues.total(\.downloads, from: rank) < limits.downloads
            else { return nil }
            if queues.total(\.active, from: rank) >= window || queues.total(\.active) >= window + lower * reserve {
                return focused.flatMap { beginNext(of: $0, isMoreUrgent: true, onlyFocused: true) }
            }
            if let task = beginNext(of: first, isMoreUrgent: lower > 0) { return task }
            for id in queues.batchesToBegin(of: rank) where id != first {
                if let task = beginNext(of: id, isMoreUrgent: lower > 0) { return task }
            }
        }
        return nil
    }

    private mutating func beginNext(
        of id: BatchID, isMoreUrgent: Bool, onlyFocused: Bool = false
    ) -> PhotoTask? {
        hasRoom(for: id, isMoreUrgent: isMoreUrgent) ? beginNext(of: id, onlyFocused: onlyFocused) : nil
    }

    /// Whether a local operation has photos in the focus of its batch that may start now.
    func hasFocusedPhotosToBegin(_ id: BatchID) -> Bool {
        guard let batch = batches[id], batch.controls.focus != nil else { return false }
        return batch.toBegin.contains { operations[$0]?.hasFocusedPhotosToBegin == true }
    }

    /// Whether the downloaded bytes in memory leave room for a download of a batch.
    private mutating func hasRoom(for id: BatchID, isMoreUrgent: Bool) -> Bool {
        let maxBytes = configuration.maxBytesHeld
        let expected = expectedBytes(from: batches[id]?.rank ?? 0)
        if let batch = batches[id], !batch.hold.allowsFilters {
            // If other photos may be filtered, photos that must not be filtered now may use only half of the memory.
            let isAlone = !queues.batchesToBegin().contains { batches[$0]?.hold.allowsFilters == true }
            return expected < (isAlone ? maxBytes : maxBytes / 2) && batch.parked < Self.maxParked
        }
        guard expected < (isMoreUrgent ? maxBytes / 2 * 3 : maxBytes) else {
            if parked > 0 { needsRoom = true }
            return false
        }
        return true
    }

    private mutating func beginNext(of id: BatchID, onlyFocused: Bool) -> PhotoTask? {
        guard let batch = batches[id] else { return nil }
        var parts = batch.controls.focus == nil ? [false] : [true, false]
        if onlyFocused || awaitsFocus(batch, id) { parts = [true] }
        for focused in parts {
            for held in batch.toBegin {
                if focused, operations[held]?.focus == nil { break }  // the operations in the focus come first
                let position = update(held) { $0.nextPhoto(focused: focused) } ?? nil
                guard let position, let index = operations[held]?.records[position].index,
                    // The photo must not start while its run under an older fencing token is still stopping.
                    !photos.contains(PhotoTask.Key(batch: id, index: index))
                else { continue }
                return begin(position, of: held)
            }
        }
        return nil
    }

    private mutating func begin(_ position: Int, of held: HeldOperation) -> PhotoTask? {
        let begun = update(held) { operation in
            (task: operation.begin(position), isThrough: operation.photosToBegin == 0)
        }
        guard let (task, isThrough) = begun else { return nil }
        photos.add(task)
        change(held.batch) { batch in
            batch.begun += 1
            batch.count(.queued, 1)
            batch.unbegun -= 1
            if isThrough { batch.toBegin.removeAll { $0 == held } }
        }
        if isThrough, batches[held.batch]?.toBegin.isEmpty == true { drained.insert(held.batch) }
        return task
    }

    // MARK: Downloads

    mutating func downloadBegins(_ task: PhotoTask, _ effects: inout [Effect]) {
        guard let entry = photos.entry(of: task), !entry.isAborting, !isStopping,
            hold(of: task.operation)?.allowsDownloads == true
        else { return }
        move(entry, to: .requested)
        setIdle(entry, true)
        update(task.operation) { $0.waitEnds(index: task.record.index) }
        photos.update(task) { entry in
            if !entry.hasBegun { entry.times.downloadBegan = .now }
            entry.hasBegun = true
        }
        effects.append(.proceed(isFirst: !entry.hasBegun))
        if entry.stage == .queued { effects.append(.schedule(urgently: false)) }
    }

    mutating func downloadWaits(
        _ task: PhotoTask, isIdle: Bool, until end: ContinuousClock.Instant?, _ history: RetryHistory,
        _ effects: inout [Effect]
    ) {
        if let entry = photos.entry(of: task), entry.stage.isDownload {
            move(entry, to: .waiting)
            setIdle(entry, isIdle)
            let mayBeReleased = update(task.operation) { operation in
                operation.waits(index: task.record.index, until: end, history)
                return end != nil && operation.isIdling
            }
            if mayBeReleased == true { effects.append(.wakeReports) }
        }
        effects.append(.schedule(urgently: false))
    }

    mutating func downloadCarries(_ task: PhotoTask, _ bytes: Int, _ effects: inout [Effect]) {
        guard let entry = photos.entry(of: task), !entry.isAborting, entry.stage.isDownload else {
            return effects.append(.proceed(isFirst: false))  // the download is about to be aborted
        }
        let expected = expectedBytes()
        if mayCarry(entry, bytes) {
            move(entry, to: .downloading)
            photos.reserve(max(bytes, entry.reserved), for: task)
            effects.append(.proceed(isFirst: false))
        } else {
            areDownloadsHeld = true
            if parked > 0 {
                needsRoom = true
                effects.append(.wakeReports)
            }
            if entry.stage != .downloading { move(entry, to: .arrived) }
        }
        // A body that is smaller than expected may leave room for another one.
        if expected >= configuration.maxBytesHeld / 2, expectedBytes() < expected {
            effects.append(.schedule(urgently: false))
        }
    }

    /// Whether a download may keep `bytes` of its body in memory.
    private func mayCarry(_ entry: PhotoEntry, _ bytes: Int) -> Bool {
        let rank = batches[entry.task.operation.batch]?.rank ?? 0
        let held = photos.bytesHeld + photos.bytesReserved - entry.reserved
        let hasRoom = held == 0 || held + bytes <= maxBytes(rank) || isOnlyWork(entry)
        // Of the running downloads, the oldest one always continues, so that not all of them wait for each other.
        guard entry.stage != .downloading else { return hasRoom || photos.isOldestDownload(entry) }
        guard queues.total(\.carrying, from: rank) < limits.downloads, hasRoom else { return false }
        return entry.stage == .arrived || queues.total(\.arrived, from: rank) == 0
    }

    /// Whether all other bodies in memory belong to photos that must not be filtered now.
    private func isOnlyWork(_ entry: PhotoEntry) -> Bool {
        queues.total(\.carrying) == (entry.stage == .downloading ? 1 : 0)
            && photos.photosHeld - parked - photos.abandonedCount == 0
            && batches[entry.task.operation.batch]?.hold.allowsFilters == true
    }

    /// The largest number of bytes in memory if a photo of this rank is added. Photos that are more urgent than other
    /// running photos get 50 % more.
    private func maxBytes(_ rank: Int) -> Int {
        queues.activeRanks(below: rank) > 0 ? configuration.maxBytesHeld / 2 * 3 : configuration.maxBytesHeld
    }

    private mutating func move(_ entry: PhotoEntry, to stage: PhotoEntry.Stage) {
        guard entry.stage != stage else { return }
        setIdle(entry, false)
        photos.update(entry.task) { $0.stage = stage }
        if stage != .downloading { photos.reserve(0, for: entry.task) }
        change(entry.task.operation.batch) { batch in
            batch.count(entry.stage, -1)
            batch.count(stage, 1)
        }
    }

    private mutating func setIdle(_ entry: PhotoEntry, _ isIdle: Bool) {
        guard photos.entry(of: entry.task)?.isIdle != isIdle else { return }
        photos.update(entry.task) { $0.isIdle = isIdle }
        let isIdling = update(entry.task.operation) { operation in
            operation.idle += isIdle ? 1 : -1
            return operation.isIdling
        }
        if isIdling == true { mayWantMore = true }
    }

    /// Downloads of this rank and of higher ranks may send requests, because there will be room for the bodies of the
    /// responses.
    /// - Parameter current: the lowest rank until now. Lower ranks are opened only while an eighth of each limit is
    ///   free.
    func openRank(_ current: Int) -> Int {
        BatchPriority.allCases.indices.first { rank in
            // If no download is under way, no event makes more room.
            let isOpen = rank >= current || queues.total(\.requested) + queues.total(\.carrying) == 0
            let maxRequests = Self.requestsPerDownload * limits.downloads
            return queues.total(\.arrived, from: rank) == 0
                && queues.total(\.requested, from: rank) < (isOpen ? maxRequests : maxRequests / 8 * 7)
                && expectedBytes(from: rank) < (isOpen ? maxBytes(rank) : maxBytes(rank) / 8 * 7)
        } ?? BatchPriority.allCases.count
    }

    /// The bytes in memory if the requested photos of a rank and all higher ranks arrive. Requests of lower ranks do not
    /// count, because an urgent photo does not wait for these requests. While bodies use little memory, most requested
    /// photos wait for slow or silent hosts, so only a part of them will arrive soon.
    private func expectedBytes(from rank: Int = 0) -> Int {
        let bytes = photos.bytesHeld + photos.bytesReserved
        let requested = queues.total(\.requested, from: rank) * photos.typicalBytes
        return bytes + min(requested, max(requested / Self.requestsPerArrival, 3 * bytes))
    }

    mutating func downloaded(_ task: PhotoTask, _ bytes: Int, _ effects: inout [Effect]) {
        guard let entry = photos.entry(of: task), !entry.isAborting else {
            return downloadEnded(task, nil, &effects)
        }
        setIdle(entry, false)
        change(task.operation.batch) { $0.count(entry.stage, -1) }
        photos.hold(bytes, of: task)
        photos.update(task) { $0.times.downloadEnded = .now }
        update(task.operation) { $0.downloaded(index: task.record.index) }
        makeReady(task)
        effects.append(.schedule(urgently: false))
        if operations[task.operation]?.isIdle == true, !mayGoOn(task.operation) { effects.append(.wakeReports) }
    }

    mutating func downloadEnded(_ task: PhotoTask, _ outcome: PhotoOutcome?, _ effects: inout [Effect]) {
        if var entry = photos.entry(of: task) {
            if outcome != nil { countService(task.operation.batch, 1) }
            remove(entry)
            entry.times.downloadEnded = .now
            recordOutcome(entry, entry.isAborting ? nil : outcome, &effects)
        }
        effects.append(.schedule(urgently: false))
    }

    // MARK: Ends of photos

    /// Adds a downloaded photo that waits for its filtration.
    mutating func makeReady(_ task: PhotoTask) {
        photos.update(task) { $0.stage = .ready }
        update(task.operation) { $0.waiting += 1 }
        let isHeld = operations[task.operation]?.hold != Hold.none
        change(task.operation.batch) { batch in
            if isHeld { batch.aside.append(task) } else { batch.ready.append(task) }
        }
    }

    /// Removes a photo that has ended from the photo table and from its batch.
    mutating func remove(_ entry: PhotoEntry) {
        let task = entry.task
        setIdle(entry, false)
        photos.remove(task)
        if entry.stage == .ready { update(task.operation) { $0.waiting -= 1 } }
        change(task.operation.batch) { batch in
            batch.begun -= 1
            switch entry.stage {
            case .queued, .waiting, .requested, .arrived, .downloading: batch.count(entry.stage, -1)
            case .filterQueued, .filtering, .placing: batch.filters -= 1
            case .ready:
                batch.ready.removeAll { $0 === task }
                batch.aside.removeAll { $0 === task }
            }
        }
        if operations[task.operation] == nil { forgetUnused(task.operation.batch) }
    }

    /// Records the outcome of a removed photo; a nil outcome means that the photo may start again.
    mutating func recordOutcome(_ entry: PhotoEntry, _ outcome: PhotoOutcome?, _ effects: inout [Effect]) {
        let task = entry.task
        let index = task.record.index
        let changed = update(task.operation) { operation in
            let (wasDone, isFirstNews) = (operation.isDone, operation.oldestNews == nil)
            if let outcome {
                operation.finish(index: index, outcome, entry.times)
            } else {
                operation.abandon(index: index)
            }
            return (isDone: operation.isDone, wasDone, isFirstNews, isIdle: operation.isIdle)
        }
        guard let (isDone, wasDone, isFirstNews, isIdle) = changed else { return }
        if operations[task.operation]?.isIdling == true { mayWantMore = true }
        if isDone, !wasDone { doneOperations += 1 }
        if outcome != nil { photosDone += 1 }
        // The photo may start again, or the next photo of a quarantined operation may start now.
        if outcome == nil || task.isQuarantined { rebuild(task.operation.batch) }
        if isDone || isFirstNews || task.isQuarantined || isIdle && !mayGoOn(task.operation) {
            effects.append(.wakeReports)
        }
    }

    /// Whether further photos of an operation may start, now or later.
    func mayGoOn(_ held: HeldOperation) -> Bool { !isStopping && hold(of: held)?.allowsDownloads == true }

    /// Stops a photo. A photo that is waiting or being filtered is removed at once, since an encoder may take seconds
    /// to stop and its result is no longer needed. A download is removed when it is aborted, which takes 1 ms. A photo
    /// whose file is getting its final name is stopped only if `alsoPlacing` is true.
    mutating func stop(_ entry: PhotoEntry, alsoPlacing: Bool = false, _ effects: inout [Effect]) {
        switch entry.stage {
        case .placing where !alsoPlacing: return
        case .queued, .waiting, .requested, .arrived, .downloading:
            photos.update(entry.task) { $0.isAborting = true }
        case .ready:
            photos.drop(entry.bytes)
        case .filterQueued:
            photos.drop(entry.bytes)
            photos.abandon(entry)
        case .filtering, .placing:
            photos.abandon(entry)
        }
        effects.append(.cancel(entry.task))
        guard !entry.stage.isDownload else { return }
        remove(entry)
        recordOutcome(entry, nil, &effects)
    }
}
