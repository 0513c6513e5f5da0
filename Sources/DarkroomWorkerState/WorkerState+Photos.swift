import DarkroomModel
import DarkroomStore

/// Handles photos from their start to the end of their download.
extension WorkerState {
    /// The largest number of photos in progress. It is so large that no filtration waits for downloads. Photos that
    /// wait for transfer slots or retries are not counted; each batch may have this many such photos.
    var window: Int { limits.downloads + 4 * limits.filtrations }
    /// For each lower priority that has running photos, this many photos may start in addition to `window`.
    var reserve: Int { 4 * limits.filtrations }
    /// To bound memory: while this many photos of a priority and all higher priorities wait for transfer slots or
    /// retries, a batch starts no further photo while any of its own photos waits.
    static let maxWaiting = 1024
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
        if !begun.isEmpty || hasStalled, wantsMore { effects.append(.wakeClaims) }
        hasStalled = false
    }

    /// Starts photos if there is room. Higher priorities come first; within a priority, ``RunQueues`` decides.
    mutating func beginDownloads(urgently: Bool) -> [PhotoTask] {
        guard !isStopping, let highest = queues.highestRankToBegin else { return [] }
        // While enough photos wait for filtration, several photos are started at a time, because each call wakes 3
        // threads.
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
            // Photos in the focus use the same reserve, so that photos that started before the focus was set do not
            // block them.
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
        let expected = photos.bytesHeld + queues.total(\.downloads) * photos.typicalBytes
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
            batch.downloads += 1
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
        if entry.stage == .waiting {
            change(task.operation.batch) { batch in
                batch.waiting -= 1
                batch.downloads += 1
            }
        }
        photos.update(task) { entry in
            entry.stage = .downloading
            if !entry.hasBegun { entry.times.downloadBegan = .now }
            entry.hasBegun = true
        }
        effects.append(.proceed(isFirst: !entry.hasBegun))
    }

    mutating func downloadWaits(_ task: PhotoTask, _ effects: inout [Effect]) {
        if let entry = photos.entry(of: task), entry.stage == .queued || entry.stage == .downloading {
            photos.update(task) { $0.stage = .waiting }
            change(task.operation.batch) { batch in
                batch.downloads -= 1
                batch.waiting += 1
            }
        }
        effects.append(.schedule(urgently: false))
    }

    mutating func downloaded(_ task: PhotoTask, _ bytes: Int, _ effects: inout [Effect]) {
        guard let entry = photos.entry(of: task), !entry.isAborting else {
            return downloadEnded(task, nil, &effects)
        }
        change(task.operation.batch) { $0.endDownload(entry.stage) }
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
        photos.remove(task)
        if entry.stage == .ready { update(task.operation) { $0.waiting -= 1 } }
        change(task.operation.batch) { batch in
            batch.begun -= 1
            switch entry.stage {
            case .queued, .waiting, .downloading: batch.endDownload(entry.stage)
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
        case .queued, .waiting, .downloading:
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
