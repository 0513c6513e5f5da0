import DarkroomModel

/// What must hold of everything in Redis after every step, whatever happened before; and from one step to the next.
extension StoreState {
    /// What does not hold, in words. Batches that are as they were in `previous` are not looked into again.
    func violations(since previous: StoreState? = nil) -> [String] {
        var broken = problems.map { "found \($0)" }
        for (id, batch) in batches {
            if previous?.batches[id] != batch {
                broken += batch.violations(claims: claims).map { "batch \(id): \($0)" }
            }
            let readyQueues = BatchPriority.allCases.filter { self.readyQueues[$0]?.turns[id] != nil }
            let wanted = batch.handable.isEmpty ? [] : [batch.priority]
            if readyQueues != wanted {
                broken.append("batch \(id): in the ready queues \(readyQueues), wanted \(wanted)")
            }
            let expires = batch.state == nil || batch.state == .finished && batch.retain >= 0
            if (expiring[id] != nil) != expires { broken.append("batch \(id): expiring \(expiring[id] as Int?)") }
            if submissions[id] != batch.submitted { broken.append("batch \(id): submitted \(submissions[id] as Int?)") }
            broken += waitingViolations(of: id, batch).map { "batch \(id): \($0)" }
            let leased = Set(leases.keys.filter { $0.batch == id }.map(\.number))
            if leased != Set(batch.executing.keys) {
                broken.append("batch \(id): leases \(leased.sorted()), executing \(batch.executing.keys.sorted())")
            }
        }
        let there = Set(batches.keys)
        if !Set(submissions.keys).isSubset(of: there) { broken.append("batches names some that are gone") }
        if !Set(expiring.keys).isSubset(of: there) { broken.append("expiring names batches that are gone") }
        if !Set(leases.keys.map(\.batch)).isSubset(of: there) { broken.append("leases of batches that are gone") }
        if !Set(outputs.values).isSubset(of: there) { broken.append("outputs names batches that are gone") }
        for (name, id) in names where batches[id]?.settings["name"] != name {
            broken.append("names says that \(id) is called \(name)")
        }
        if !Set(releases.keys).isSubset(of: there) { broken.append("releases names batches that are gone") }
        for member in webhooks.keys {
            let parts = member.split(separator: " ")
            guard parts.count == 2, let id = BatchID(String(parts[0])), let batch = batches[id], !batch.webhook.isEmpty,
                batch.state == .finished || batch.round > Int(parts[1]) ?? .max, Int(parts[1]) ?? .max <= batch.round
            else {
                broken.append("webhooks has \(member)")
                continue
            }
        }
        if staleFiles.count > 1000 { broken.append("\(staleFiles.count) staleFiles") }
        for (priority, turns) in readyQueues {
            let readyQueue = turns.turns
            if !Set(readyQueue.keys).isSubset(of: there) {
                broken.append("the ready queue \(priority) names batches that are gone")
            }
            if Set(readyQueue.values).count != readyQueue.count {
                broken.append("two batches of the ready queue \(priority) have one turn")
            }
            if let last = readyQueue.values.max(), last > turn {
                broken.append("a turn of the ready queue \(priority) is to come")
            }
        }
        if let previous { broken += violations(after: previous) }
        return broken
    }

    /// Dependencies and dependents mirror each other, who waits is going to be released, and nobody waits for himself.
    private func waitingViolations(of id: BatchID, _ batch: BatchContent) -> [String] {
        var broken: [String] = []
        for other in batch.dependencies where !(batches[other]?.dependents.order.contains(id) ?? false) {
            broken.append("waits for \(other), which does not know")
        }
        for other in batch.dependents.order where !(batches[other]?.dependencies.contains(id) ?? false) {
            broken.append("\(other) waits for it, but does not know")
        }
        let awaited = batch.dependencies.filter { batches[$0]?.state != .finished || releases[$0] != nil }
        if batch.state == .waiting, awaited.isEmpty { broken.append("waits for nothing") }
        if let state = batch.state, state != .waiting, !batch.isCancelled, !batch.dependencies.isEmpty {
            broken.append("is \(state) and has dependencies")
        }
        if batch.state == .finished, !batch.dependents.order.isEmpty, releases[id] == nil {
            broken.append("finished, and its dependents are not to be released")
        }
        if releases[id] != nil, batch.state != .finished { broken.append("not finished, and in releases") }
        var reached = batch.dependencies
        var open = Array(reached)
        while let next = open.popLast() {
            for other in batches[next]?.dependencies ?? [] where reached.insert(other).inserted { open.append(other) }
        }
        if reached.contains(id) { broken.append("waits for itself, in a circle") }
        return broken
    }

    private func violations(after previous: StoreState) -> [String] {
        var broken: [String] = []
        if claims < previous.claims { broken.append("tokens went back from \(previous.claims) to \(claims)") }
        if taken < previous.taken { broken.append("the number of output folders went back") }
        if version < previous.version { broken.append("the version went back") }
        if cluster != previous.cluster, version == previous.version { broken.append("the cluster's version stood") }
        if leaseClock < previous.leaseClock { broken.append("the lease clock went back") }
        for (id, batch) in batches {
            guard let before = previous.batches[id], before.submitted == batch.submitted, before != batch
            else { continue }
            if batch.stateCodes.count < before.stateCodes.count { broken.append("batch \(id): photos went away") }
            for (index, (was, stateCode)) in zip(before.stateCodes, batch.stateCodes).enumerated()
            where was != stateCode && was != UInt8(ascii: "N") && was != UInt8(ascii: "D") {
                let isRetry = (97...122).contains(was) && stateCode == UInt8(ascii: "N")
                let number = index / batch.size + 1
                if !isRetry || !before.hasEnded(number) || !batch.queue.contains(number) {
                    broken.append("batch \(id): the final letter of photo \(index) moved")
                }
            }
            if before.isCancelled, !batch.isCancelled || batch.stateCodes != before.stateCodes {
                broken.append("batch \(id): was cancelled, and is not, or has other state codes")
            }
            if before.controls != batch.controls, version <= previous.version {
                // The end of a batch clears its focus: nothing is left that it could matter to.
                var cleared = before.controls
                cleared.focus = nil
                if batch.state != .finished || cleared != batch.controls {
                    broken.append("batch \(id): its steering changed, the version did not")
                }
            }
            if before.isCancelled || !before.suspended.isDisjoint(with: [.everything, .downloads]),
                let number = batch.executing.keys.first(where: {
                    before.executing[$0] != batch.executing[$0] && before.queue.contains($0)
                })
            {
                broken.append("batch \(id): operation \(number) was handed out in spite of the flags")
            }
            if batch.operations > before.operations, batch.queue.count + batch.executing.count > batch.window {
                broken.append("batch \(id): more was fed than the window allows")
            }
            if batch.bytesIn < before.bytesIn || batch.bytesOut < before.bytesOut {
                broken.append("batch \(id): bytes went down")
            }
            for (number, holder) in batch.executing {
                let old = before.executing[number]
                if let old, old.worker != holder.worker || old.fencingToken != holder.fencingToken,
                    old.fencingToken >= holder.fencingToken
                {
                    broken.append(
                        "batch \(id): operation \(number) went from fencing token \(old.fencingToken) to \(holder.fencingToken)"
                    )
                }
            }
        }
        return broken
    }
}

extension BatchContent {
    /// What does not hold of this batch alone.
    func violations(claims: Int) -> [String] {
        guard state != nil else { return [] }  // being forgotten
        var broken: [String] = []
        func demand(_ holds: Bool, _ message: @autoclosure () -> String) { if !holds { broken.append(message()) } }
        let wanted = countersOfContent
        if isCancelled { return broken + cancelledViolations(wanted) }
        demand(counters == wanted, "the counters \(counters) are not those of the state codes, \(wanted)")
        demand(
            reasons == reasonsOfStateCodes,
            "the reasons \(reasons) are not those of the state codes, \(reasonsOfStateCodes)")
        demand(
            operations == (stateCodes.count + size - 1) / size,
            "\(operations) operations of \(size) photos for \(stateCodes.count) photos")
        demand(queue.isDisjoint(with: executing.keys), "an operation is queued and executing")
        let live = queue.union(executing.keys)
        demand(live.isSubset(of: 1...max(1, operations)), "an operation that was never fed is queued or executing")
        for operation in 1..<operations + 1 {
            let stateCodes = stateCodes[photos(of: operation)]
            let open = stateCodes.contains(UInt8(ascii: "N")) || stateCodes.contains(UInt8(ascii: "D"))
            let text = String(decoding: stateCodes, as: UTF8.self)
            // One whose last photos were cancelled one by one is left to the next report of a worker: it may have to write their lines.
            let isLeft = executing[operation] != nil || queue.contains(operation) && !output.isEmpty
            let left = isLeft && stateCodes.contains(UInt8(ascii: "C"))
            demand(open == live.contains(operation) || left, "operation \(operation) with \(text)")
            if executing[operation] == nil, originals.isEmpty {
                demand(!stateCodes.contains(UInt8(ascii: "D")), "operation \(operation) is not executing and has a D")
            }
            let keeps = open || left || stateCodes.contains { (97...122).contains($0) }
            // What failed may have lost its entry, when more failed than are kept.
            let mayLack = !live.contains(operation) && keeps
            demand(
                (entries[operation] != nil) == keeps || mayLack && entries[operation] == nil,
                "operation \(operation) has an entry: \(!keeps)")
        }
        demand(entries.keys.allSatisfy { 1...max(1, operations) ~= $0 }, "an entry of an operation that was never fed")
        demand(
            leaseExpiries.allSatisfy { live.contains($0.key) && $0.value > 0 },
            "leaseExpiries \(leaseExpiries) of ended operations")
        demand(executing.values.allSatisfy { $0.fencingToken <= claims }, "a fencing token that was never given")
        demand(
            failures.keys.allSatisfy { stateCodes.indices.contains($0) && (97...122).contains(stateCodes[$0]) },
            "a failure is kept of a photo that has not failed")
        let over = sealed && live.isEmpty && state != .waiting
        demand((state == .finished) == over, "the state is \(state!) with \(live.count) operations to end")
        demand((finished != nil) == over, "finished at \(finished as Int?)")
        demand(started == nil || state == .executing || over, "started at \(started as Int?)")
        demand(state != .executing || started != nil, "executing, and never started")
        demand(!over || focus == nil, "finished with a focus")
        demand(round >= 1 && (attempts ?? 0) >= 0, "round \(round), attempts \(attempts as Int?)")
        return broken
    }

    /// What does not hold of a cancelled batch: its state codes stay as they were, and what is not final counts as cancelled.
    private func cancelledViolations(_ wanted: BatchCounters) -> [String] {
        var broken: [String] = []
        func demand(_ holds: Bool, _ message: @autoclosure () -> String) { if !holds { broken.append(message()) } }
        demand(counters.photos == wanted.photos, "\(counters.photos) photos for \(wanted.photos) state codes")
        demand(
            counters.filtered == wanted.filtered, "\(counters.filtered) filtered, state codes say \(wanted.filtered)")
        demand(counters.failed == wanted.failed, "\(counters.failed) failed, state codes say \(wanted.failed)")
        demand(
            counters.cancelled == wanted.cancelled,
            "one by one \(counters.cancelled), state codes say \(wanted.cancelled)")
        demand(counters.executing == executing.count, "\(counters.executing) execute, not \(executing.count)")
        demand(
            reasons == reasonsOfStateCodes,
            "the reasons \(reasons) are not those of the state codes, \(reasonsOfStateCodes)")
        demand(queue.isDisjoint(with: executing.keys), "an operation is queued and executing")
        demand((state == .finished) == executing.isEmpty, "\(state!) with \(executing.count) that execute")
        demand((finished != nil) == (state == .finished), "finished at \(finished as Int?)")
        demand(state != .waiting, "waits")
        if state == .finished {
            demand(
                queue.isEmpty && entries.isEmpty && leaseExpiries.isEmpty,
                "it is over and has a queue, entries or leaseExpiries")
        } else {
            demand(
                queue.count + executing.count + counters.ended == operations,
                "\(queue.count) queued, \(executing.count) executing, \(counters.ended) ended of \(operations)")
        }
        return broken
    }
}
