import DarkroomModel
import DarkroomStore

/// What users change while the worker runs.
extension WorkerLedger {
    /// What the ledger's owner does after a change.
    struct Orders {
        /// Transfers to abort, and downloaded bytes to throw away.
        var stopped: [PhotoInProgress] = []
        /// Downloads to withdraw unless they have begun.
        var withdrawn: [PhotoInProgress] = []
        /// Photos with another urgency, which counts for those that wait, and for what the others are counted as.
        var reordered: [PhotoInProgress] = []
        /// Something of what is held begins, stops or rests otherwise than before.
        var isNews = false
        /// How many downloads and filtrations run at once has changed.
        var limitsChanged = false
        /// A heartbeat is needed at once.
        var needsBeat = false
    }

    // MARK: What is heard

    /// Takes a hint as it comes.
    mutating func heard(_ hint: Hint) -> Orders {
        switch hint {
        case .work:
            return Orders()
        case .batch(let id, let batch, let version):
            return steer { $0.heard(version, batch: (id, batch)) }
        case .cluster(let cluster, let version):
            return steer { $0.heard(version, cluster: cluster) }
        case .photos(let id, let version):
            var orders = steer { $0.heard(version) }
            // Only a heartbeat tells which photos.
            if batches[id] != nil { orders.needsBeat = true }
            return orders
        }
    }

    /// An answer said that a batch is cancelled.
    mutating func cancelled(_ id: BatchID) -> Orders { steer { $0.cancelled(id) } }

    /// Takes what Redis has told, and does what follows.
    mutating func steer<Ignored>(_ tell: (inout WorkerSteering) -> Ignored) -> Orders {
        let (downloads, filtrations, cluster) = (downloads, filtrations, controls.cluster)
        _ = tell(&controls)
        var orders = Orders()
        orders.limitsChanged = downloads != self.downloads || filtrations != self.filtrations
        orders.isNews = orders.limitsChanged
        orders.needsBeat = controls.needsBeat
        let isOfAll = cluster != controls.cluster
        for id in Array(batches.keys) where isOfAll || batches[id]?.controls != controls.batch(id) {
            settle(id, &orders)
            orders.isNews = true
        }
        return orders
    }

    /// Letters of an operation with photos that were cancelled one by one: those that run are stopped, the others never begin.
    mutating func adopt(_ stateCodes: [UInt8], of held: HeldOperation) -> Orders {
        var orders = Orders()
        let news = update(held) { operation in
            let wasDone = operation.isDone
            return (overtaken: operation.adopt(stateCodes), isDone: operation.isDone && !wasDone)
        }
        guard let (overtaken, isDone) = news else { return orders }
        if isDone { doneOperations += 1 }
        orders.isNews = isDone || !overtaken.isEmpty
        for index in overtaken {
            guard let entry = inProgress[PhotoInProgress.Key(batch: held.batch, index: index)],
                entry.photo.operation == held, stop(entry)
            else { continue }
            orders.stopped.append(entry.photo)
        }
        arrange(held.batch)
        return orders
    }

    // MARK: What follows

    /// Whether photos of an operation may begin, or may when their turn comes.
    func mayGoOn(_ held: HeldOperation) -> Bool {
        guard !isStopping, mayRun(held), let batch = batches[held.batch] else { return false }
        return batch.mayDownload
    }

    /// Makes a batch's photos keep to what holds now.
    mutating func settle(_ id: BatchID, _ orders: inout Orders) {
        guard let before = batches[id] else { return }
        let (now, cluster) = (controls.batch(id), controls.cluster)
        let isBarred = isBarred(id)
        change(id) { $0.take(now, cluster, isBarred: isBarred) }
        arrange(id)
        if before.controls.focus != now.focus { noteFocus(of: id, now) }
        guard let after = batches[id], before.begun > 0 else { return }
        let hasMoved = before.controls.priority != now.priority || before.controls.focus != now.focus
        for entry in inProgress.values where entry.photo.operation.batch == id {
            let photo = entry.photo
            if now.isCancelled || operations[photo.operation]?.isOutsideFocus == true && entry.stage != .ready {
                // What is outside of the focus keeps its bytes: they need only their filter when it moves there.
                if entry.stage == .filterQueued, !now.isCancelled {
                    takeBack(entry)
                } else if stop(entry) {
                    orders.stopped.append(photo)
                }
            } else if [.queued, .waiting].contains(entry.stage), !after.mayDownload {
                orders.withdrawn.append(photo)
            } else if entry.stage == .filterQueued, !after.mayFilter {
                takeBack(entry)
            } else if hasMoved, [.queued, .waiting, .downloading, .filterQueued].contains(entry.stage) {
                orders.reordered.append(photo)
            }
        }
    }
}
