import DarkroomModel
import DarkroomStore

/// A photo's beginning, its download, and the books that it stands in until its end.
extension WorkerLedger {
    /// Whether a download may begin.
    enum DownloadPermission { case no, yes, again }

    // MARK: Downloads

    /// The photos that are to begin now: the most urgent first, batches of one priority in turn.
    /// - Parameter urgently: begin one by one even while the filters have enough to do.
    mutating func begin(urgently: Bool = false) -> [PhotoInProgress] {
        guard !isStopping, let highest = beginLanes.lastIndex(where: { !$0.isEmpty }) else { return [] }
        // While the filters have enough to do, photos begin several at a time: one by one, each would wake three threads.
        let running = active.reduce(0, +)
        let free = window - running
        let toFilter = photosHeld - parked - ghosts.count
        let isMoreUrgent = active.firstIndex { $0 > 0 }.map { $0 < highest } ?? true
        guard urgently || isMoreUrgent || free >= window / 5 || toFilter < 4 * filtrations else { return [] }
        var begun: [PhotoInProgress] = []
        while let photo = nextPhoto() { begun.append(photo) }
        return begun
    }

    /// Downloaded photos that may not be filtered now.
    private var parked: Int { inProgress.count - active.reduce(0, +) - waiting.reduce(0, +) }

    /// How urgent a photo is.
    func urgency(of photo: PhotoInProgress) -> Urgency {
        batches[photo.operation.batch]?.urgency(of: photo.record.index) ?? Urgency(priority: .normal, isInFocus: false)
    }

    private mutating func nextPhoto() -> PhotoInProgress? {
        for rank in beginLanes.indices.reversed() where !beginLanes[rank].isEmpty {
            // What is less urgent does not stand in the way, but for a bounded reserve; each lower priority leaves one.
            let lower = active[..<rank].count { $0 > 0 }
            guard active[rank...].reduce(0, +) < window, active.reduce(0, +) < window + lower * reserve,
                downloading[rank...].reduce(0, +) < downloads
            else { return nil }
            let first = firstTurn(rank)
            if let photo = takePhoto(in: rank, first, lower > 0) { return photo }
            for turn in beginLanes[rank].indices where turn != first {
                if let photo = takePhoto(in: rank, turn, lower > 0) { return photo }
            }
        }
        return nil
    }

    /// Whose turn it is among the batches of a rank: of the next few the one with the fewest photos that have begun, so that what
    /// a large batch has begun before does not keep a small one waiting.
    private func firstTurn(_ rank: Int) -> Int {
        let lane = beginLanes[rank]
        guard lane.count > 1 else { return 0 }
        let few = lane.indices.prefix(Self.maxCompared)
        func begun(_ turn: Int) -> Int { batches[lane[turn]].map { $0.running + $0.waiting } ?? 0 }
        return few.min { begun($0) < begun($1) } ?? 0
    }

    private mutating func takePhoto(in rank: Int, _ turn: Int, _ isMoreUrgent: Bool) -> PhotoInProgress? {
        let id = beginLanes[rank][turn]
        guard hasRoom(for: id, isMoreUrgent), let photo = takePhoto(of: id) else { return nil }
        if batches[id]?.isInBeginLane == true, beginLanes[rank].count > 1 {
            beginLanes[rank].append(beginLanes[rank].remove(at: turn))
        }
        return photo
    }

    /// Whether the bytes that are held leave room for a download of a batch.
    private mutating func hasRoom(for id: BatchID, _ isMoreUrgent: Bool) -> Bool {
        let expected = bytesHeld + transfers * typicalBytes
        if batches[id]?.mayFilter == false {
            // What cannot be filtered leaves half of the room to those that can.
            let isAlone = !beginLanes.joined().contains { batches[$0]?.mayFilter == true }
            let parked = batches[id]?.parked ?? 0
            return expected < (isAlone ? maxBytesHeld : maxBytesHeld / 2) && parked < Self.maxParked
        }
        guard expected < (isMoreUrgent ? maxBytesHeld / 2 * 3 : maxBytesHeld) else {
            if parked > 0 { wantsRoom = true }
            return false
        }
        return true
    }

    /// The most photos of a batch that are held while its filtrations are suspended, however few their bytes.
    private static let maxParked = 4096

    private mutating func takePhoto(of id: BatchID) -> PhotoInProgress? {
        let hasFocus = batches[id]?.controls.focus != nil
        for focused in hasFocus ? [true, false] : [false] {
            var place = 0
            while let held = batches[id]?.toBegin[from: place] {
                if focused, operations[held]?.focus == nil { break }  // those that touch it come first
                place += 1
                // The same photo may still end under an older fence.
                let next = update(held) { operation in
                    operation.nextPhoto(focused: focused).map { (position: $0, index: operation.records[$0].index) }
                }
                guard let (position, index) = next ?? nil,
                    inProgress[PhotoInProgress.Key(batch: id, index: index)] == nil
                else { continue }
                return begin(position, of: held)
            }
        }
        return nil
    }

    private mutating func begin(_ position: Int, of held: HeldOperation) -> PhotoInProgress? {
        let begun = update(held) { operation in
            let photo = PhotoInProgress(
                operation.records[position], of: held, operation.context, isStored: operation.isStored(position),
                isSuspect: operation.isSuspect)
            operation.begin(position)
            return (photo: photo, isThrough: !operation.hasPhotosToBegin)
        }
        guard let (photo, isThrough) = begun else { return nil }
        inProgress[photo.key] = BegunPhoto(photo: photo)
        change(held.batch) { batch in
            batch.begun += 1
            batch.downloads += 1
            batch.unbegun -= 1
            if isThrough { batch.toBegin.removeAll { $0 == held } }
        }
        if isThrough, batches[held.batch]?.toBegin.isEmpty == true { hungry.insert(held.batch) }
        return photo
    }

    /// Asked right before a download, or another attempt of it, begins.
    mutating func mayDownload(_ photo: PhotoInProgress) -> DownloadPermission {
        guard let entry = entry(of: photo), !entry.isStopped, !isStopping, mayRun(photo.operation),
            batches[photo.operation.batch]?.mayDownload == true
        else { return .no }
        if entry.stage == .waiting {
            change(photo.operation.batch) { batch in
                batch.waiting -= 1
                batch.downloads += 1
            }
        }
        inProgress[photo.key]?.stage = .downloading
        inProgress[photo.key]?.hasBegun = true
        return entry.hasBegun ? .again : .yes
    }

    /// A download waits for its host, or for another attempt; others may begin in its place.
    /// - Returns: false, since there is nothing to report.
    mutating func waits(_ photo: PhotoInProgress) -> Bool {
        guard let entry = entry(of: photo), [.queued, .downloading].contains(entry.stage) else { return false }
        inProgress[photo.key]?.stage = .waiting
        change(photo.operation.batch) { batch in
            batch.downloads -= 1
            batch.waiting += 1
        }
        return false
    }

    /// The photo's bytes are here and wait for their filter; false when they are not wanted any more.
    mutating func downloaded(_ photo: PhotoInProgress, bytes: Int) -> Bool {
        guard let entry = entry(of: photo), !entry.isStopped else { return false }
        change(photo.operation.batch) { $0.endDownload(entry.stage) }
        photosHeld += 1
        bytesHeld += bytes
        typicalBytes += (bytes - typicalBytes) / 8
        inProgress[photo.key]?.bytes = bytes
        operations[photo.operation]?.downloaded(index: photo.record.index)
        makeReady(photo)
        return true
    }

    /// A download gave no bytes; `outcome` nil when it was stopped or withdrawn.
    /// - Returns: true when the reporter should look.
    mutating func downloadEnded(_ photo: PhotoInProgress, _ outcome: PhotoOutcome?) -> Bool {
        guard let entry = entry(of: photo) else { return false }
        leave(entry)
        return conclude(photo, entry.isStopped ? nil : outcome)
    }

    // MARK: The books

    func entry(of photo: PhotoInProgress) -> BegunPhoto? {
        inProgress[photo.key].flatMap { $0.photo === photo ? $0 : nil }
    }

    mutating func release(_ bytes: Int) {
        bytesHeld -= bytes
        photosHeld -= 1
    }

    mutating func makeReady(_ photo: PhotoInProgress) {
        inProgress[photo.key]?.stage = .ready
        operations[photo.operation]?.waiting += 1
        let mayRun = mayRun(photo.operation)
        change(photo.operation.batch) { batch in
            if mayRun { batch.ready.append(photo) } else { batch.aside.append(photo) }
        }
    }

    /// Takes a photo that has ended off the books.
    mutating func leave(_ entry: BegunPhoto) {
        let photo = entry.photo
        inProgress[photo.key] = nil
        if entry.stage == .ready { operations[photo.operation]?.waiting -= 1 }
        change(photo.operation.batch) { batch in
            batch.begun -= 1
            switch entry.stage {
            case .queued, .waiting, .downloading: batch.endDownload(entry.stage)
            case .filterQueued, .filtering, .placing: batch.filtrations -= 1
            case .ready:
                batch.ready.removeAll { $0 === photo }
                batch.aside.removeAll { $0 === photo }
            }
        }
        if operations[photo.operation] == nil { forgetBatchIfUnused(photo.operation.batch) }
    }

    /// Notes what became of a photo that has left the books.
    mutating func conclude(_ photo: PhotoInProgress, _ outcome: PhotoOutcome?) -> Bool {
        let index = photo.record.index
        let news = update(photo.operation) { operation in
            let (wasDone, isFirstNews) = (operation.isDone, operation.oldestNews == nil)
            if let outcome {
                operation.finished(index: index, outcome)
            } else {
                operation.abandon(index: index)
            }
            return (isDone: operation.isDone, wasDone, isFirstNews, operation.rests)
        }
        guard let (isDone, wasDone, isFirstNews, rests) = news else { return false }
        if isDone, !wasDone { doneOperations += 1 }
        if outcome != nil { photosDone += 1 }
        // It may begin again, and of a suspect the next may begin now.
        if outcome == nil || photo.isSuspect { arrange(photo.operation.batch) }
        return isDone || isFirstNews || rests && !mayGoOn(photo.operation)
    }

    /// Stops a photo: what waits leaves the books at once, and what is filtered, too, since an encoder may take seconds to
    /// notice and its result will be dropped. A download stays until it is aborted, which takes a millisecond; and what is
    /// being put in place goes on to its end.
    /// - Returns: false when there is nothing to stop.
    mutating func stop(_ entry: BegunPhoto, also placing: BegunPhoto.Stage? = nil) -> Bool {
        switch entry.stage {
        case .queued, .waiting, .downloading:
            inProgress[entry.photo.key]?.isStopped = true
        case .placing where placing != .placing:
            return false
        case .filtering, .placing:
            ghosts[entry.ticket] = .running(bytes: entry.bytes)
            leave(entry)
            _ = conclude(entry.photo, nil)
        case .filterQueued:
            ghosts[entry.ticket] = .queued
            fallthrough
        case .ready:
            release(entry.bytes)
            leave(entry)
            _ = conclude(entry.photo, nil)
        }
        entry.photo.cancelled.set()
        return true
    }

    /// Takes a photo back from the local queue of filtrations.
    mutating func takeBack(_ entry: BegunPhoto) {
        ghosts[entry.ticket] = .queued
        change(entry.photo.operation.batch) { $0.filtrations -= 1 }
        inProgress[entry.photo.key]?.ticket = 0
        makeReady(entry.photo)
    }
}

extension Array {
    /// The element at `place`; nil behind the end.
    fileprivate subscript(from place: Int) -> Element? { place < count ? self[place] : nil }
}
