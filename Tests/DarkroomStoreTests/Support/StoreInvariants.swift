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
            let rings = Priority.allCases.filter { self.rings[$0]?[id] != nil }
            let wanted = batch.state != nil && !batch.queue.isEmpty ? [batch.priority] : []
            if rings != wanted { broken.append("batch \(id): in the rings \(rings), wanted \(wanted)") }
            let expires = batch.state == nil || batch.state == .finished && batch.retain >= 0
            if (expiring[id] != nil) != expires { broken.append("batch \(id): expiring \(expiring[id] as Int?)") }
            if submissions[id] != batch.submitted { broken.append("batch \(id): submitted \(submissions[id] as Int?)") }
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
        for (priority, ring) in rings {
            if !Set(ring.keys).isSubset(of: there) { broken.append("the ring \(priority) names batches that are gone") }
            if Set(ring.values).count != ring.count {
                broken.append("two batches of the ring \(priority) have one turn")
            }
            if let last = ring.values.max(), last > turn { broken.append("a turn of the ring \(priority) is to come") }
        }
        if let previous { broken += violations(after: previous) }
        return broken
    }

    private func violations(after previous: StoreState) -> [String] {
        var broken: [String] = []
        if claims < previous.claims { broken.append("fences went back from \(previous.claims) to \(claims)") }
        if attended < previous.attended { broken.append("attended time went back") }
        for (id, batch) in batches {
            guard let before = previous.batches[id], before.submitted == batch.submitted, before != batch
            else { continue }
            if batch.letters.count < before.letters.count { broken.append("batch \(id): photos went away") }
            for (index, (was, letter)) in zip(before.letters, batch.letters).enumerated()
            where was != letter && was != UInt8(ascii: "N") && was != UInt8(ascii: "D") {
                broken.append("batch \(id): the final letter of photo \(index) moved")
            }
            if batch.bytesIn < before.bytesIn || batch.bytesOut < before.bytesOut {
                broken.append("batch \(id): bytes went down")
            }
            for (number, holder) in batch.executing {
                let old = before.executing[number]
                if let old, old.worker != holder.worker || old.fence != holder.fence, old.fence >= holder.fence {
                    broken.append("batch \(id): operation \(number) went from fence \(old.fence) to \(holder.fence)")
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
        demand(counters == wanted, "the counters \(counters) are not those of the letters, \(wanted)")
        demand(reasons == reasonsOfLetters, "the reasons \(reasons) are not those of the letters, \(reasonsOfLetters)")
        demand(
            operations == (letters.count + size - 1) / size,
            "\(operations) operations of \(size) photos for \(letters.count) photos")
        demand(operations - wanted.ended <= window, "more is fed than the window allows")
        demand(queue.isDisjoint(with: executing.keys), "an operation is queued and executing")
        let live = queue.union(executing.keys)
        demand(live.isSubset(of: 1...max(1, operations)), "an operation that was never fed is queued or executing")
        for operation in 1..<operations + 1 {
            let letters = letters[photos(of: operation)]
            let open = letters.contains(UInt8(ascii: "N")) || letters.contains(UInt8(ascii: "D"))
            let text = String(decoding: letters, as: UTF8.self)
            demand(open == live.contains(operation), "operation \(operation) with \(text)")
            if executing[operation] == nil {
                demand(!letters.contains(UInt8(ascii: "D")), "operation \(operation) is not executing and has a D")
            }
            let keeps = open || letters.contains { (97...122).contains($0) }
            demand((entries[operation] != nil) == keeps, "operation \(operation) has an entry: \(!keeps)")
        }
        demand(entries.keys.allSatisfy { 1...max(1, operations) ~= $0 }, "an entry of an operation that was never fed")
        demand(deaths.allSatisfy { live.contains($0.key) && $0.value > 0 }, "deaths \(deaths) of ended operations")
        demand(executing.values.allSatisfy { $0.fence <= claims }, "a fence that was never given")
        demand(
            failures.keys.allSatisfy { letters.indices.contains($0) && (97...122).contains(letters[$0]) },
            "a failure is kept of a photo that has not failed")
        let over = sealed && live.isEmpty
        demand((state == .finished) == over, "the state is \(state!) with \(live.count) operations to end")
        demand((finished != nil) == over, "finished at \(finished as Int?)")
        demand((started != nil) == (state == .executing || over && operations > 0), "started at \(started as Int?)")
        return broken
    }
}
