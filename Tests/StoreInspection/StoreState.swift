import DarkroomModel

/// The content of one namespace of Redis as values, read from Redis or predicted by the model.
struct StoreState: Equatable {
    var seen: Int?
    var leaseClock = 0
    var retentionClock = 0
    var claims = 0
    var turn = 0
    /// How often a batch entered a ready queue.
    var entered = 0
    /// The number that Redis gave to the last batch that took an output folder.
    var taken = 0
    /// The flags and limits of the cluster.
    var cluster = ClusterControls()
    var version = 0
    /// The version of the dependencies of all batches.
    var dependencies = 0
    var batches: [BatchID: BatchContent] = [:]
    var submissions: [BatchID: Int] = [:]
    /// The batches that have not finished, by the time of their submission.
    var open: [BatchID: Int] = [:]
    /// The ready queue of each priority.
    var readyQueues: [BatchPriority: ReadyQueue] = [:]
    var leases: [OperationID: Int] = [:]
    /// For each batch with deferred operations, a retention clock time at which none of them was due yet, or the first is.
    var deferred: [BatchID: Int] = [:]
    /// The time of the last heartbeat of each worker.
    var workers: [String: Int] = [:]
    /// The content of each worker's hash.
    var workerHashes: [String: WorkerContent] = [:]
    /// The batches that each worker refuses.
    var refusals: [String: Set<BatchID>] = [:]
    var outputs: [String: BatchID] = [:]
    var names: [String: BatchID] = [:]
    var expiring: [BatchID: Int] = [:]
    var forgotten: [BatchID: Int] = [:]
    /// For each batch whose dependents must be released, the time at which the batch finished.
    var releases: [BatchID: Int] = [:]
    /// For each `<batch> <round>`, the time of the next attempt to call the webhook.
    var webhooks: [String: Int] = [:]
    /// For each `<batch> <operation> <fencingToken> <attempt>`, when its stale temporary files must be removed.
    var staleFiles: [String: Int] = [:]
    /// The numbers of photos and bytes by the fields of the totals; fields with 0 are left out.
    var totals: [String: Int] = [:]
    /// When the history was sampled for the last time.
    var sampled: Int?
    /// The samples of the history by their times.
    var history: [Int: String] = [:]
    /// Unknown keys and invalid values.
    var problems: [String] = []
}

/// The ready queue of a priority. Two queues are equal if their batches have the same order, even if the turns differ.
struct ReadyQueue: Equatable {
    var turns: [BatchID: Int] = [:]

    /// The batches in order of their turns.
    var inTurn: [BatchID] { turns.sorted { ($0.value, $0.key) < ($1.value, $1.key) }.map(\.key) }

    static func == (left: ReadyQueue, right: ReadyQueue) -> Bool {
        left.turns == right.turns || left.inTurn == right.inTurn
    }
}

/// The members of a set in the order in which Redis returns them. Comparisons ignore the order.
struct Members: Equatable {
    var order: [BatchID] = []

    static func == (left: Members, right: Members) -> Bool {
        left.order == right.order || left.order.sorted() == right.order.sorted()
    }
}

/// An operation of a batch, regardless of its holder.
struct OperationID: Hashable, Comparable, CustomStringConvertible {
    var batch: BatchID
    var number: Int

    var description: String { "\(batch)/\(number)" }
    static func < (left: OperationID, right: OperationID) -> Bool { left.description < right.description }
}

/// The content of a worker's hash: its last claim and the fields that the worker reports.
struct WorkerContent: Equatable {
    var claim: Int?
    /// The reply to the last claim: the fencing token, then the claimed operations.
    var fencingToken: Int?
    var claimed: [OperationID] = []
    var facts: [String: String] = [:]
}

/// The keys of one batch.
struct BatchContent: Equatable {
    var settings: [String: String] = [:]
    var size = 0
    var window = 0
    /// The lease, in ms of the lease clock.
    var lease = 0
    /// In ms. A negative value means forever.
    var retain = 0
    var priority = BatchPriority.normal
    var output = ""
    var afterSuccess = false
    var originals = ""
    var webhook = ""
    /// Attempts to call the webhook in this round, or nil until the batch finishes for the first time.
    var attempts: Int?
    var round = 1
    var suspended: Set<QueuePart> = []
    var isCancelled = false
    var reason = ""
    var focus: BatchControls.Focus?
    var dependencies: Set<BatchID> = []
    var dependents = Members()
    /// Nil while the batch is being forgotten.
    var state: BatchState?
    var sealed = false
    var digest = ""
    var submitted = 0
    var started: Int?
    var finished: Int?
    var spent = 0
    var feederSeen = 0
    var bytesIn = 0
    var bytesOut = 0
    /// The number of fed operations.
    var operations = 0
    var stateCodes: [UInt8] = []
    var entries: [Int: String] = [:]
    var queue: Set<Int> = []
    /// The retention clock time at which a queued operation that was deferred can be claimed again.
    var deferred: [Int: Int] = [:]
    /// What a worker knew about retries when it released an operation, after the retention clock time of the release.
    var retries: [Int: String] = [:]
    var executing: [Int: Holder] = [:]
    var leaseExpiries: [Int: Int] = [:]
    var failures: [Int: String] = [:]
    var reasons: [UInt8: Int] = [:]
    var counters = BatchCounters()

    /// The photos of an operation, as positions in `stateCodes`.
    func photos(of operation: Int) -> Range<Int> {
        min((operation - 1) * size, stateCodes.count)..<min(operation * size, stateCodes.count)
    }

    /// The operations with photos in focus, or nil without a focus.
    var focused: ClosedRange<Int>? {
        focus.map { $0.photos.lowerBound / size + 1...$0.photos.upperBound / size + 1 }
    }

    /// The operations that can be claimed, in the order of claims.
    var claimable: [Int] {
        guard state == .ready || state == .executing, !isCancelled,
            suspended.isDisjoint(with: [.everything, .downloads])
        else { return [] }
        let queue = queue.subtracting(deferred.keys)
        guard let focused else { return queue.sorted() }
        let first = queue.filter(focused.contains).sorted()
        return focus!.only ? first : first + queue.filter { !focused.contains($0) }.sorted()
    }

    /// The state codes as clients read them: in a cancelled batch, photos that are not final count as cancelled.
    func read(_ stateCodes: some Sequence<UInt8>) -> [UInt8] {
        isCancelled
            ? stateCodes.map { [UInt8(ascii: "N"), UInt8(ascii: "D")].contains($0) ? UInt8(ascii: "C") : $0 }
            : Array(stateCodes)
    }

    /// The controls that Redis sends to workers.
    var controls: BatchControls {
        var controls = BatchControls()
        controls.priority = priority
        controls.isCancelled = isCancelled
        controls.isSuspended = suspended.contains(.everything)
        controls.areDownloadsSuspended = suspended.contains(.downloads)
        controls.areFiltrationsSuspended = suspended.contains(.filtrations)
        controls.focus = focus
        return controls
    }

    /// The filtered and failed photos.
    var done: Int {
        let counters = countersOfContent
        return counters.filtered + counters.failed
    }

    /// The recent progress: the time and the done photos of the last sample, and the latest periods of work. Nil if there
    /// is none or if it cannot be read.
    var pace: (time: Int, done: Int, periods: [(milliseconds: Int, photos: Int)])? {
        let numbers = (settings["pace"] ?? "").split(separator: " ").map { Int($0) ?? -1 }
        guard numbers.count >= 2, numbers.count % 2 == 0, !numbers.contains(-1) else { return nil }
        let periods = stride(from: 2, to: numbers.count, by: 2).map { (numbers[$0], numbers[$0 + 1]) }
        return (numbers[0], numbers[1], periods)
    }

    /// The milliseconds in which photos of the batch ran.
    var worked: Int? { settings["worked"].flatMap { Int($0) } }

    func hasEnded(_ operation: Int) -> Bool { !queue.contains(operation) && executing[operation] == nil }

    /// The latest time in the hash of the batch.
    var latestTime: Int { max(submitted, started ?? 0, finished ?? 0, feederSeen) }

    /// The number of failures per reason, computed from the state codes.
    var reasonsOfStateCodes: [UInt8: Int] {
        stateCodes.reduce(into: [:]) { reasons, stateCode in
            if FailureReason.isStateCode(stateCode) { reasons[stateCode, default: 0] += 1 }
        }
    }

    /// The counters, computed from the state codes, the queue and the executing operations.
    var countersOfContent: BatchCounters {
        var counters = BatchCounters()
        counters.photos = stateCodes.count
        counters.ended = operations - queue.count - executing.count
        counters.kept = entries.keys.filter(hasEnded).count
        counters.executing = executing.count
        for stateCode in stateCodes {
            switch stateCode {
            case UInt8(ascii: "D"): counters.downloaded += 1
            case UInt8(ascii: "F"): counters.filtered += 1
            case UInt8(ascii: "C"): counters.cancelled += 1
            case UInt8(ascii: "N"): break
            default: counters.failed += 1
            }
        }
        return counters
    }
}

/// The holder of an operation.
struct Holder: Equatable {
    var worker: String
    var fencingToken: Int
    var bytesIn = 0
    var bytesOut = 0
    /// Whether a crash probe of the operation is running.
    var begun = false
}

/// The counters of a batch's hash.
struct BatchCounters: Equatable {
    var photos = 0
    var ended = 0
    var kept = 0
    var executing = 0
    var downloaded = 0
    var filtered = 0
    var failed = 0
    var cancelled = 0
}

extension StoreState {
    /// Descriptions of the differences between this state and the expected one.
    func differences(from expected: StoreState) -> [String] {
        var found = problems.map { "found \($0)" }
        func compare<Value: Equatable>(_ name: String, _ actual: Value, _ expected: Value) {
            if actual != expected { found.append("\(name): in Redis \(actual), expected \(expected)") }
        }
        compare("seen", seen, expected.seen)
        compare("lease.clock", leaseClock, expected.leaseClock)
        compare("retention.clock", retentionClock, expected.retentionClock)
        compare("claims", claims, expected.claims)
        compare("taken", taken, expected.taken)
        compare("cluster", cluster, expected.cluster)
        compare("version", version, expected.version)
        compare("dependencies", dependencies, expected.dependencies)
        compare("batches", submissions, expected.submissions)
        compare("open", open, expected.open)
        compare("readyQueues", readyQueues, expected.readyQueues)
        compare("leases", leases, expected.leases)
        compare("deferred", deferred, expected.deferred)
        compare("workers", workers, expected.workers)
        compare("worker hashes", workerHashes, expected.workerHashes)
        compare("refusals", refusals, expected.refusals)
        compare("outputs", outputs, expected.outputs)
        compare("names", names, expected.names)
        compare("expiring", expiring, expected.expiring)
        compare("forgotten", forgotten, expected.forgotten)
        compare("releases", releases, expected.releases)
        compare("webhooks", webhooks, expected.webhooks)
        compare("stale.files", staleFiles, expected.staleFiles)
        compare("totals", totals, expected.totals)
        compare("history.sampled", sampled, expected.sampled)
        compare("history", history, expected.history)
        for id in Set(batches.keys).union(expected.batches.keys) where batches[id] != expected.batches[id] {
            guard let actual = batches[id], let wanted = expected.batches[id] else {
                found.append("batch \(id): in Redis \(batches[id] != nil), expected \(expected.batches[id] != nil)")
                continue
            }
            found += actual.differences(from: wanted).map { "batch \(id), \($0)" }
        }
        return found
    }
}

extension BatchContent {
    /// Descriptions of the differences between this batch and the expected one.
    func differences(from expected: BatchContent) -> [String] {
        var found: [String] = []
        func compare<Value: Equatable>(_ name: String, _ path: KeyPath<BatchContent, Value>) {
            let (actual, wanted) = (self[keyPath: path], expected[keyPath: path])
            if actual != wanted { found.append("\(name): in Redis \(actual), expected \(wanted)") }
        }
        compare("settings", \.settings)
        compare("size", \.size)
        compare("window", \.window)
        compare("lease", \.lease)
        compare("retain", \.retain)
        compare("priority", \.priority)
        compare("output", \.output)
        compare("after.success", \.afterSuccess)
        compare("originals", \.originals)
        compare("webhook", \.webhook)
        compare("webhook.attempts", \.attempts)
        compare("round", \.round)
        compare("suspended", \.suspended)
        compare("cancelled", \.isCancelled)
        compare("cancelled.reason", \.reason)
        compare("focus", \.focus)
        compare("dependencies", \.dependencies)
        compare("dependents", \.dependents)
        compare("state", \.state)
        compare("sealed", \.sealed)
        compare("digest", \.digest)
        compare("submitted", \.submitted)
        compare("started", \.started)
        compare("finished", \.finished)
        compare("feeder.seen", \.feederSeen)
        compare("bytes.in", \.bytesIn)
        compare("bytes.out", \.bytesOut)
        compare("operations", \.operations)
        compare("state codes", \.text)
        compare("entries", \.entries)
        compare("queue", \.queue)
        compare("deferred", \.deferred)
        compare("retries", \.retries)
        compare("executing", \.executing)
        compare("lease.expiries", \.leaseExpiries)
        compare("failures", \.failures)
        compare("reasons", \.reasons)
        compare("counters", \.counters)
        return found
    }

    private var text: String { String(decoding: stateCodes, as: UTF8.self) }
}
