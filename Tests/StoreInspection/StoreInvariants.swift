import DarkroomModel

/// The invariants of each state in Redis, and of the change from one state to the next.
extension StoreState {
    /// Descriptions of the violated invariants. Batches that are unchanged since `previous` are not checked again.
    func violations(since previous: StoreState? = nil) -> [String] {
        var broken = problems.map { "found \($0)" }
        for (id, batch) in batches {
            if previous?.batches[id] != batch {
                broken += batch.violations(claims: claims).map { "batch \(id): \($0)" }
            }
            let readyQueues = BatchPriority.allCases.filter { self.readyQueues[$0]?.turns[id] != nil }
            let wanted = batch.claimable.isEmpty ? [] : [batch.priority]
            if readyQueues != wanted {
                broken.append("batch \(id): in the ready queues \(readyQueues), expected \(wanted)")
            }
            let expires = batch.state == nil || batch.state == .finished && batch.retain >= 0
            if (expiring[id] != nil) != expires { broken.append("batch \(id): expiring \(expiring[id] as Int?)") }
            let isOpen = batch.state != nil && batch.state != .finished
            if (open[id] != nil) != isOpen { broken.append("batch \(id): open \(open[id] as Int?)") }
            if submissions[id] != batch.submitted { broken.append("batch \(id): submitted \(submissions[id] as Int?)") }
            broken += waitingViolations(of: id, batch).map { "batch \(id): \($0)" }
            if let due = batch.deferred.values.min(), batch.state != nil, !batch.isCancelled,
                deferred[id].map({ $0 > due }) ?? true
            {
                broken.append("batch \(id): deferred until \(deferred[id] as Int?), an operation is due at \(due)")
            }
            if batch.isCancelled, deferred[id] != nil { broken.append("batch \(id): cancelled, and in deferred") }
            let leased = Set(leases.keys.filter { $0.batch == id }.map(\.number))
            if leased != Set(batch.executing.keys) {
                broken.append("batch \(id): leases \(leased.sorted()), executing \(batch.executing.keys.sorted())")
            }
        }
        let there = Set(batches.keys)
        if !Set(submissions.keys).isSubset(of: there) { broken.append("batches has forgotten batches") }
        if !Set(open.keys).isSubset(of: there) { broken.append("open has forgotten batches") }
        if !Set(expiring.keys).isSubset(of: there) { broken.append("expiring has forgotten batches") }
        if !Set(deferred.keys).isSubset(of: there) { broken.append("deferred has forgotten batches") }
        if !Set(leases.keys.map(\.batch)).isSubset(of: there) { broken.append("leases has forgotten batches") }
        if !Set(outputs.values).isSubset(of: there) { broken.append("outputs has forgotten batches") }
        for (name, id) in names where batches[id]?.settings["name"] != name {
            broken.append("names has \(name) for \(id), which has another name")
        }
        if !Set(releases.keys).isSubset(of: there) { broken.append("releases has forgotten batches") }
        for member in webhooks.keys {
            let parts = member.split(separator: " ")
            guard parts.count == 2, let id = BatchID(String(parts[0])), let batch = batches[id], !batch.webhook.isEmpty,
                batch.state == .finished || batch.round > Int(parts[1]) ?? .max, Int(parts[1]) ?? .max <= batch.round
            else {
                broken.append("webhooks has \(member) without a matching batch")
                continue
            }
        }
        if staleFiles.count > 1000 {
            broken.append("stale files has \(staleFiles.count) entries, at most 1000 are allowed")
        }
        for (priority, turns) in readyQueues {
            let readyQueue = turns.turns
            if !Set(readyQueue.keys).isSubset(of: there) {
                broken.append("the ready queue \(priority) has forgotten batches")
            }
            if Set(readyQueue.values).count != readyQueue.count {
                broken.append("two batches of the ready queue \(priority) have the same turn")
            }
            if let last = readyQueue.values.max(), last > turn {
                broken.append("a turn of the ready queue \(priority) is above the last one, \(turn)")
            }
        }
        if let previous { broken += violations(after: previous) }
        return broken
    }

    /// Dependencies and dependents mirror each other, every waiting batch has an unfinished or unreleased dependency,
    /// and the dependencies have no cycle.
    private func waitingViolations(of id: BatchID, _ batch: BatchContent) -> [String] {
        var broken: [String] = []
        for other in batch.dependencies where !(batches[other]?.dependents.order.contains(id) ?? false) {
            broken.append("waits for \(other), but is not among its dependents")
        }
        for other in batch.dependents.order where !(batches[other]?.dependencies.contains(id) ?? false) {
            broken.append("\(other) is among the dependents, but has no such dependency")
        }
        let awaited = batch.dependencies.filter { batches[$0]?.state != .finished || releases[$0] != nil }
        if batch.state == .waiting, awaited.isEmpty { broken.append("waits without a dependency") }
        if let state = batch.state, state != .waiting, !batch.isCancelled, !batch.dependencies.isEmpty {
            broken.append("is \(state) and has dependencies")
        }
        if batch.state == .finished, !batch.dependents.order.isEmpty, releases[id] == nil {
            broken.append("finished with dependents, but not in releases")
        }
        if releases[id] != nil, batch.state != .finished { broken.append("not finished, and in releases") }
        var reached = batch.dependencies
        var open = Array(reached)
        while let next = open.popLast() {
            for other in batches[next]?.dependencies ?? [] where reached.insert(other).inserted { open.append(other) }
        }
        if reached.contains(id) { broken.append("waits for itself through a cycle") }
        return broken
    }

    private func violations(after previous: StoreState) -> [String] {
        var broken: [String] = []
        if claims < previous.claims {
            broken.append("the fencing token went down from \(previous.claims) to \(claims)")
        }
        if taken < previous.taken { broken.append("the number of taken output folders went down") }
        if version < previous.version { broken.append("the version went down") }
        if cluster != previous.cluster, version == previous.version {
            broken.append("the cluster changed, but the version did not")
        }
        if leaseClock < previous.leaseClock { broken.append("the lease clock went down") }
        for (id, batch) in batches {
            guard let before = previous.batches[id], before.submitted == batch.submitted, before != batch
            else { continue }
            if batch.stateCodes.count < before.stateCodes.count {
                broken.append("batch \(id): the number of photos went down")
            }
            for (index, (was, stateCode)) in zip(before.stateCodes, batch.stateCodes).enumerated()
            where was != stateCode && was != UInt8(ascii: "N") && was != UInt8(ascii: "D") {
                let isRetry = FailureReason.isStateCode(was) && stateCode == UInt8(ascii: "N")
                let number = index / batch.size + 1
                if !isRetry || !before.hasEnded(number) || !batch.queue.contains(number) {
                    broken.append("batch \(id): the final state code of photo \(index) changed")
                }
            }
            if before.isCancelled, !batch.isCancelled || batch.stateCodes != before.stateCodes {
                broken.append("batch \(id): cancelled before, but not now, or its state codes changed")
            }
            if before.controls != batch.controls, version <= previous.version {
                // When a batch finishes, its focus is removed without a new version, because no photos remain.
                var cleared = before.controls
                cleared.focus = nil
                if batch.state != .finished || cleared != batch.controls {
                    broken.append("batch \(id): its controls changed, but the version did not")
                }
            }
            if before.isCancelled || !before.suspended.isDisjoint(with: [.everything, .downloads]),
                let number = batch.executing.keys.first(where: {
                    before.executing[$0] != batch.executing[$0] && before.queue.contains($0)
                })
            {
                broken.append(
                    "batch \(id): operation \(number) was claimed although the batch is cancelled or suspended")
            }
            if batch.operations > before.operations, batch.queue.count + batch.executing.count > batch.window {
                broken.append("batch \(id): more operations were fed than its window allows")
            }
            if batch.bytesIn < before.bytesIn || batch.bytesOut < before.bytesOut {
                broken.append("batch \(id): its byte counts went down")
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
    /// The violated invariants of this batch alone.
    func violations(claims: Int) -> [String] {
        guard state != nil else { return [] }  // the batch is being forgotten
        var broken: [String] = []
        func require(_ holds: Bool, _ message: @autoclosure () -> String) { if !holds { broken.append(message()) } }
        let wanted = countersOfContent
        if isCancelled { return broken + cancelledViolations(wanted) }
        require(counters == wanted, "the counters \(counters) do not match the state codes, \(wanted)")
        require(
            reasons == reasonsOfStateCodes,
            "the reasons \(reasons) do not match the state codes, \(reasonsOfStateCodes)")
        require(
            operations == (stateCodes.count + size - 1) / size,
            "\(operations) operations of \(size) photos for \(stateCodes.count) photos")
        require(queue.isDisjoint(with: executing.keys), "an operation is both queued and executing")
        let live = queue.union(executing.keys)
        require(live.isSubset(of: 1...max(1, operations)), "an operation that was never fed is queued or executing")
        for operation in 1..<operations + 1 {
            let stateCodes = stateCodes[photos(of: operation)]
            let open = stateCodes.contains(UInt8(ascii: "N")) || stateCodes.contains(UInt8(ascii: "D"))
            let text = PhotoState.text(ofStateCodes: stateCodes)
            // If a user cancels the last photos of an operation, but not the batch, the operation does not end before
            // the next report of a worker: the worker may have to write the manifest lines of these photos.
            let isLeft = executing[operation] != nil || queue.contains(operation) && !output.isEmpty
            let left = isLeft && stateCodes.contains(UInt8(ascii: "C"))
            require(
                open == live.contains(operation) || left,
                "operation \(operation) with \(text) is queued or executing: \(live.contains(operation))")
            if executing[operation] == nil, originals.isEmpty {
                require(!stateCodes.contains(UInt8(ascii: "D")), "operation \(operation) is not executing and has a D")
            }
            let keeps = open || left || stateCodes.contains { FailureReason.isStateCode($0) }
            // An operation with failures may lack its entry, because Redis keeps only a limited number of these
            // entries.
            let mayLack = !live.contains(operation) && keeps
            require(
                (entries[operation] != nil) == keeps || mayLack && entries[operation] == nil,
                "operation \(operation) has an entry: \(!keeps)")
        }
        require(entries.keys.allSatisfy { 1...max(1, operations) ~= $0 }, "an entry of an operation that was never fed")
        require(
            leaseExpiries.allSatisfy { live.contains($0.key) && $0.value > 0 },
            "lease expiries \(leaseExpiries) of ended operations")
        require(deferred.keys.allSatisfy(queue.contains), "deferred \(deferred), queued \(queue.sorted())")
        require(retries.keys.allSatisfy(live.contains), "retries \(retries) of ended operations")
        require(
            executing.values.allSatisfy { $0.fencingToken <= claims }, "a holder has a fencing token above the last one"
        )
        require(
            failures.keys.allSatisfy { stateCodes.indices.contains($0) && FailureReason.isStateCode(stateCodes[$0]) },
            "a failure is kept for a photo that has not failed")
        let over = sealed && live.isEmpty && state != .waiting
        require((state == .finished) == over, "the state is \(state!) with \(live.count) unfinished operations")
        require((finished != nil) == over, "finished at \(finished as Int?)")
        require(started == nil || state == .executing || over, "started at \(started as Int?)")
        require(state != .executing || started != nil, "executing without a start time")
        require(!over || focus == nil, "finished with a focus")
        require(
            (state == .executing) == (settings["pace"] != nil), "\(state!) with the pace \(settings["pace"] ?? "nil")")
        require(settings["pace"] == nil || pace != nil, "the pace is \(settings["pace"] ?? "nil")")
        let worked = pace?.periods.reduce(0) { $0 + $1.milliseconds } ?? 0
        require(worked <= 60_000, "the periods of the pace cover \(worked) ms")
        require(pace?.periods.count ?? 0 <= 24, "the pace has \(pace?.periods.count ?? 0) periods")
        require(round >= 1 && (attempts ?? 0) >= 0, "round \(round), attempts \(attempts as Int?)")
        return broken
    }

    /// The violated invariants of a cancelled batch. Cancelling does not change the state codes; photos that are not
    /// final count as cancelled.
    private func cancelledViolations(_ wanted: BatchCounters) -> [String] {
        var broken: [String] = []
        func require(_ holds: Bool, _ message: @autoclosure () -> String) { if !holds { broken.append(message()) } }
        require(counters.photos == wanted.photos, "\(counters.photos) photos for \(wanted.photos) state codes")
        require(
            counters.filtered == wanted.filtered, "\(counters.filtered) filtered, state codes have \(wanted.filtered)")
        require(counters.failed == wanted.failed, "\(counters.failed) failed, state codes have \(wanted.failed)")
        require(
            counters.cancelled == wanted.cancelled,
            "\(counters.cancelled) cancelled singly, state codes have \(wanted.cancelled)")
        require(
            counters.executing == executing.count,
            "the counter has \(counters.executing) executing, not \(executing.count)")
        require(
            reasons == reasonsOfStateCodes,
            "the reasons \(reasons) do not match the state codes, \(reasonsOfStateCodes)")
        require(queue.isDisjoint(with: executing.keys), "an operation is both queued and executing")
        require((state == .finished) == executing.isEmpty, "\(state!) with \(executing.count) executing operations")
        require((finished != nil) == (state == .finished), "finished at \(finished as Int?)")
        require(state != .waiting, "cancelled, but waiting")
        if state == .finished {
            require(
                queue.isEmpty && entries.isEmpty && leaseExpiries.isEmpty,
                "finished with a queue, entries or lease expiries")
        } else {
            require(
                queue.count + executing.count + counters.ended == operations,
                "\(queue.count) queued, \(executing.count) executing, \(counters.ended) ended of \(operations)")
        }
        return broken
    }
}
