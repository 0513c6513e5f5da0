import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// Compares the messages that were published in one step with the changes of the step. Each change must have its event
/// and its change notice, and no other messages may be published.
struct ChangeAudit {
    let before: StoreState
    let after: StoreState
    let notices: [Listener.Message]
    let events: [Listener.Message]
    /// A Redis time after the step, in milliseconds since 1970.
    let now: Int

    /// Descriptions of the differences.
    func differences() -> [String] {
        var found: [String] = []
        let named = Dictionary(grouping: events) { "\($0.name) \($0.batch?.description ?? "")" }
        var wanted: [String: [String]] = [:]
        for id in Set(before.batches.keys).union(after.batches.keys) {
            for (name, values) in expected(of: id) { wanted["\(name) \(id)"] = values }
        }
        let parts = Set(QueuePart.allCases)
        let (was, now) = (Self.parts(before.cluster), Self.parts(after.cluster))
        let flipped = parts.filter { was.contains($0) != now.contains($0) }
        if !flipped.isEmpty { wanted["isSuspended "] = flipped.map { "\($0) \(now.contains($0))" } }
        if before.cluster.downloads != after.cluster.downloads
            || before.cluster.filtrations != after.cluster.filtrations
        {
            wanted["limits "] = ["\(Self.text(after.cluster.downloads)) \(Self.text(after.cluster.filtrations))"]
        }
        for key in Set(named.keys).union(wanted.keys).sorted() {
            let said = (named[key] ?? []).map(Self.value).sorted()
            let ought = (wanted[key] ?? []).sorted()
            if said != ought { found.append("events \(key): published \(said), expected \(ought)") }
        }
        for event in events where (event.int("time") ?? 0) < 1_600_000_000_000 { found.append("no time: \(event)") }
        return found + noticeDifferences()
    }

    // MARK: Events

    /// The comparable content of an event, apart from its name, batch and time.
    private static func value(_ event: Listener.Message) -> String {
        switch event.name {
        case "isSuspended": "\(event.string("part") ?? "") \(event.value.map(String.init) ?? "")"
        case "isReady", "isExecuting", "isFinished", "isCancelled": event.value.map(String.init) ?? "none"
        case "dependencies": event.int("value").map(String.init) ?? "none"
        case "priority": event.string("value") ?? "none"
        case "focus": "\(text(event.int("first"))) \(text(event.int("last"))) \(event.fields["only"] as? Bool == true)"
        case "limits": "\(text(event.int("downloads"))) \(text(event.int("filtrations")))"
        case "completion":
            ["round", "photos", "filtered", "failed", "cancelledPhotos"].map { text(event.int($0)) }
                .joined(separator: " ") + " \(event.fields["cancelled"] as? Bool ?? false)"
        case "claimed": "\((event.fields["operations"] as? [Int] ?? []).sorted()) \(event.string("worker") ?? "")"
        case "released", "ended": text(event.int("operation"))
        case "recovered": "\(text(event.int("operation"))) \(text(event.int("leaseExpiries")))"
        case "photos":
            (event.fields["photos"] as? [String: String] ?? [:]).map { "\($0.key)\($0.value)" }.sorted()
                .joined(separator: " ")
        default: ""
        }
    }

    private static func text(_ number: Int?) -> String { number.map(String.init) ?? "null" }

    private static func parts(_ cluster: ClusterControls) -> Set<QueuePart> {
        var parts: Set<QueuePart> = []
        if cluster.isSuspended { parts.insert(.everything) }
        if cluster.areDownloadsSuspended { parts.insert(.downloads) }
        if cluster.areFiltrationsSuspended { parts.insert(.filtrations) }
        return parts
    }

    /// The values of the expected events of a batch, by name.
    private func expected(of id: BatchID) -> [String: [String]] {
        guard let new = after.batches[id] else { return ["forgotten": [""]] }
        guard let old = before.batches[id] else { return submitted(new) }
        guard old != new else { return [:] }
        var wanted: [String: [String]] = [:]
        if new.isCancelled, !old.isCancelled { wanted["isCancelled"] = ["true"] }
        if new.state == .finished, old.state != .finished {
            wanted["isFinished"] = ["true"]
            wanted["completion"] = [Self.completion(new)]
        }
        if old.state == .finished, new.state != .finished {
            wanted["isFinished"] = ["false"]
            wanted["isReady"] = ["true"]
        }
        if new.started != nil, new.started != old.started { wanted["isExecuting"] = ["true"] }
        if old.state == .waiting, new.state != .waiting, !new.isCancelled { wanted["isReady"] = ["true"] }
        if old.state == .ready, new.state == .waiting { wanted["isReady"] = ["false"] }
        let flipped = QueuePart.allCases.filter { old.suspended.contains($0) != new.suspended.contains($0) }
        if !flipped.isEmpty { wanted["isSuspended"] = flipped.map { "\($0) \(new.suspended.contains($0))" } }
        if old.priority != new.priority { wanted["priority"] = [new.priority.rawValue] }
        if old.focus != new.focus, new.state != .finished {
            let focus = new.focus
            wanted["focus"] = [
                "\(Self.text(focus?.photos.lowerBound)) \(Self.text(focus?.photos.upperBound)) \(focus?.only ?? false)"
            ]
        }
        if old.dependencies.count != new.dependencies.count { wanted["dependencies"] = dependencies(old, new) }
        operations(old, new).forEach { wanted[$0] = $1 }
        return wanted
    }

    private func submitted(_ batch: BatchContent) -> [String: [String]] {
        var wanted = ["submitted": [""]]
        if batch.dependencies.isEmpty { wanted["isReady"] = ["true"] }
        if !batch.dependencies.isEmpty { wanted["dependencies"] = ["\(batch.dependencies.count)"] }
        if batch.isCancelled {
            wanted["isCancelled"] = ["true"]
            wanted["isFinished"] = ["true"]
            wanted["completion"] = [Self.completion(batch)]
        }
        return wanted
    }

    /// The expected numbers of remaining dependencies. After its cancellation, a batch publishes no more numbers.
    private func dependencies(_ old: BatchContent, _ new: BatchContent) -> [String] {
        if new.dependencies.count > old.dependencies.count { return ["\(new.dependencies.count)"] }
        // One step may remove two dependencies: a finished batch and a forgotten batch. If the first removal cancels
        // the batch, the batch publishes no number for the second removal.
        let counts = Array((new.dependencies.count..<old.dependencies.count).map(String.init))
        guard new.isCancelled else { return counts }
        return counts.filter(said("dependencies", of: new).contains)
    }

    /// The values of the published events of this name for a batch.
    private func said(_ name: String, of batch: BatchContent) -> [String] {
        let id = after.batches.first { $0.value == batch }?.key
        return events.filter { $0.name == name && $0.batch == id }.map(Self.value)
    }

    private static func completion(_ batch: BatchContent) -> String {
        let stateCodes = batch.read(batch.stateCodes)
        let counts = ["F", "C"].map { stateCode in stateCodes.filter { $0 == UInt8(ascii: stateCode) }.count }
        let failed = stateCodes.filter { FailureReason.isStateCode($0) }.count
        return "\(batch.round) \(stateCodes.count) \(counts[0]) \(failed) \(counts[1]) \(batch.isCancelled)"
    }

    private func operations(_ old: BatchContent, _ new: BatchContent) -> [String: [String]] {
        var wanted: [String: [String]] = [:]
        func add(_ name: String, _ value: String) { wanted[name, default: []].append(value) }
        let claimed = new.executing.filter { old.executing[$0.key]?.fencingToken != $0.value.fencingToken }
        for (worker, numbers) in Dictionary(grouping: claimed, by: \.value.worker) {
            add("claimed", "\(numbers.map(\.key).sorted()) \(worker)")
        }
        for number in old.executing.keys {
            let leaseExpiries = new.leaseExpiries[number] ?? 0
            if leaseExpiries > old.leaseExpiries[number] ?? 0 {
                add("recovered", "\(number) \(leaseExpiries)")
            } else if leaseExpiries >= 2, said("recovered", of: new).contains("\(number) \(leaseExpiries)") {
                // No crash probe was running, so the lease expiry does not count.
                add("recovered", "\(number) \(leaseExpiries)")
            } else if new.queue.contains(number) {
                add("released", "\(number)")
            } else if new.hasEnded(number) {
                add("ended", "\(number)")
            }
        }
        for number in old.queue where new.hasEnded(number) && !new.isCancelled { add("ended", "\(number)") }
        // If a user cancels single photos, a script publishes their event; a worker publishes the photos that it
        // reports.
        if notices.contains(where: { $0.name == "photos" }) {
            let indexes = new.stateCodes.indices.filter { new.stateCodes[$0] == 67 && old.stateCodes[$0] != 67 }
            if !indexes.isEmpty { add("photos", indexes.map { "\($0)C" }.sorted().joined(separator: " ")) }
        }
        return wanted
    }

    // MARK: Change notices

    private func noticeDifferences() -> [String] {
        var found: [String] = []
        let changes = notices.filter { $0.name != "work" && $0.name != "idle" }
        let versions = changes.compactMap { $0.int("version") }
        if versions != Array(before.version..<after.version).map({ $0 + 1 }) {
            found.append("notices of the versions \(versions), went from \(before.version) to \(after.version)")
        }
        for notice in changes {
            switch notice.name {
            case "batch":
                guard let id = notice.batch, let batch = after.batches[id] else { continue }
                var controls = notice.string("controls").flatMap(BatchControls.init)
                if batch.state == .finished { controls?.focus = nil }  // the end of the batch has cleared it
                if controls != batch.controls { found.append("\(notice), but it is \(batch.controls)") }
                if before.batches[id]?.controls == batch.controls { found.append("\(notice), but nothing changed") }
            case "cluster":
                if notice.string("cluster").flatMap(ClusterControls.init) != after.cluster {
                    found.append("\(notice), but it is \(after.cluster)")
                }
            case "photos": if notice.batch == nil { found.append("\(notice) names no batch") }
            default: found.append("a notice without a subject: \(notice)")
            }
        }
        for notice in notices where notice.name == "idle" {
            found += workersDifference(notice)
            if events.contains(where: { $0.name == "claimed" }) { found.append("\(notice), but a worker has claimed") }
            if after.leases.count < 2 { found.append("\(notice), but workers hold \(after.leases.count) operations") }
        }
        for notice in notices where notice.name == "work" {
            guard let priority = notice.string("priority").flatMap(BatchPriority.init(rawValue:)) else {
                found.append("\(notice) names no priority")
                continue
            }
            found += workersDifference(notice)
            if notice.int("operations") ?? 0 < 1 { found.append("\(notice) has no operations") }
            // A claim by an idle worker publishes a notice about the operations that remain in the queue.
            if after.readyQueues[priority] != nil, events.contains(where: { $0.name == "claimed" }) { continue }
            let entered = after.batches.contains { id, batch in
                batch.priority == priority && (before.readyQueues[priority]?.turns[id] == nil)
            }
            // When a batch finishes, a change notice makes workers claim soon. A claim makes its dependents `ready`.
            let finished = after.batches.contains { id, batch in
                batch.state == .finished && before.batches[id]?.state != .finished
            }
            if !entered, !(finished && priority == .veryHigh) {
                found.append("\(notice), but nothing entered that ready queue")
            }
        }
        return found
    }

    /// Redis counts the workers that sent a heartbeat in the last 30 s before the step.
    private func workersDifference(_ notice: Listener.Message) -> [String] {
        let latest = after.workers.values.filter { $0 >= now - 30_000 }.count
        guard !(latest...after.workers.count).contains(notice.int("workers") ?? -1) else { return [] }
        return ["\(notice), but there are \(latest) to \(after.workers.count) workers"]
    }
}
