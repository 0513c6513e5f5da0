import DarkroomModel
import DarkroomStore

/// What is filtered next, and what becomes of it.
extension WorkerLedger {
    /// A filtration that is to be put into the local queue.
    struct QueuedFiltration {
        let photo: PhotoInProgress
        let ticket: Int
        let priority: Priority
    }

    /// The filtrations that are to be put into the local queue: as many as run, and as many again, so that none waits.
    mutating func filtrationsToQueue() -> [QueuedFiltration] {
        var queued: [QueuedFiltration] = []
        for rank in filterLanes.indices.reversed() {
            while filtering[rank...].reduce(0, +) + ghosts.count < 2 * filtrations, let turn = filterTurn(rank) {
                let id = filterLanes[rank][turn]
                var next: PhotoInProgress?
                change(id) { batch in
                    next = batch.popReady()
                    if next != nil { batch.filtrations += 1 }
                }
                guard let photo = next else { break }
                if filterLanes[rank].count > 1, turn < filterLanes[rank].count, filterLanes[rank][turn] == id {
                    filterLanes[rank].append(filterLanes[rank].remove(at: turn))
                }
                lastTicket += 1
                inProgress[photo.key]?.stage = .filterQueued
                inProgress[photo.key]?.ticket = lastTicket
                operations[photo.operation]?.waiting -= 1
                queued.append(
                    QueuedFiltration(photo: photo, ticket: lastTicket, priority: Priority.allCases[rank]))
            }
        }
        return queued
    }

    /// Which batch of a rank has the next filtration: two times of three, of the next few, the one with the least to do here, which
    /// soon needs none any more; the third time whoever waits longest. Nil when none has any.
    private mutating func filterTurn(_ rank: Int) -> Int? {
        let lane = filterLanes[rank]
        guard lane.count > 1 else { return lane.indices.first }
        favours = (favours + 1) % 3
        guard favours != 0 else { return 0 }
        return lane.indices.prefix(Self.maxCompared).min { left, right in
            (batches[lane[left]]?.leftHere ?? 0) < (batches[lane[right]]?.leftHere ?? 0)
        }
    }

    /// Asked right before a filtration begins. One that may not is forgotten: its photo has been taken back or stopped.
    mutating func mayFilter(_ photo: PhotoInProgress, _ ticket: Int) -> Bool {
        guard let entry = entry(of: photo), entry.ticket == ticket, entry.stage == .filterQueued else {
            endGhost(ticket)
            return false
        }
        inProgress[photo.key]?.stage = .filtering
        return true
    }

    /// Asked right before a result gets its final name: from then on nothing stops it.
    mutating func mayPlace(_ photo: PhotoInProgress, _ ticket: Int) -> Bool {
        guard let entry = entry(of: photo), entry.ticket == ticket, entry.stage == .filtering else { return false }
        inProgress[photo.key]?.stage = .placing
        return true
    }

    /// A filtration ended; `outcome` nil when it was stopped without an end. Of one that nobody waits for any more only the
    /// bytes count.
    /// - Returns: true when the reporter should look.
    mutating func filtrationEnded(_ photo: PhotoInProgress, _ ticket: Int, _ outcome: PhotoOutcome?) -> Bool {
        guard let entry = entry(of: photo), entry.ticket == ticket else {
            endGhost(ticket)
            return false
        }
        release(entry.bytes)
        leave(entry)
        return conclude(photo, outcome)
    }

    private mutating func endGhost(_ ticket: Int) {
        if case .running(let bytes) = ghosts.removeValue(forKey: ticket) { release(bytes) }
    }
}
