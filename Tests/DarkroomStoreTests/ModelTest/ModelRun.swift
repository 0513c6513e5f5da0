import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// A random run of coordinators and workers, with faults of processes and messages. It depends only on the seed, not
/// on the clock.
///
/// The leases are so long that no lease expires in real time; instead, the run sets the lease clock forward.
final class ModelRun {
    let bench: ModelBench
    var random: ModelRandom
    var coordinator = FeederModel()
    var workers: [WorkerModel] = []
    private var workersStarted = 0
    private var history: [Message] = []
    private var delayed: [Message] = []
    /// `due` contains the due webhooks of heartbeat replies, `taken` the webhooks that workers have taken, each with
    /// its score in Redis.
    var due: [DueWebhook] = []
    var taken: [(member: String, score: Int)] = []

    init(_ store: BatchStore, seed: UInt64) throws {
        bench = try ModelBench(store)
        random = ModelRandom(seed: seed)
    }

    /// Sends at least `steps` messages, and then finishes all batches.
    func run(steps: Int) throws {
        while bench.steps < steps { try step() }
        try drain()
    }

    /// Performs one of 238 weighted actions.
    private func step() throws {
        // A retry between the end of a batch and the release of its dependents is rare, so it is forced here.
        if !bench.state.releases.isEmpty, random.chance(10) { try retry() }
        switch Int.random(in: 0..<238, using: &random) {
        case 0..<8: try submit()
        case 8..<38: try feed()
        case 38..<46: try seal()
        case 46..<72: try claim()
        case 72..<82: try heartbeat()
        case 82..<130: try report()
        case 130..<136: try release()
        case 136..<148: try sendAgain()
        case 148..<155: try sendDelayed()
        case 155..<160: try take(send(.heartbeat(worker: nil, facts: [], held: [])))
        case 160..<164: try passTime()
        case 164: try random.chance(30) ? jumpClock() : moveSample()
        case 165..<168: crashOrStall()
        case 168: try leave()
        case 169..<171: try forget()
        case 171..<173: try expireBatch()
        case 173: try silenceWorker()
        case 174: if random.chance(20) { try send(.expireLeases) }
        case 175..<177: try bench.save()
        case 177: if random.chance(50) { try rollBack() }
        case 178..<186: try forge()
        case 230..<237: try repair()
        case 237: if random.chance(60) { try damage() }
        default: try control()
        }
    }

    private func rollBack() throws {
        try bench.rollBack()
        // A rollback also resets the version of the dependencies, so Redis would accept a dependency that a client
        // checked before the rollback, although it now creates a cycle.
        history.removeAll { if case .addDependency = $0 { true } else { false } }
        delayed.removeAll { if case .addDependency = $0 { true } else { false } }
    }

    // MARK: Sending messages

    /// Sends a message reliably and at once.
    @discardableResult
    func send(_ message: Message, _ remark: String = "") throws -> Answer {
        history.append(message)
        if history.count > 300 { history.removeFirst(100) }
        return try bench.send(message, remark)
    }

    /// Sends a message over an unreliable network. Returns nil if the sender gets no reply.
    func deliver(_ message: Message) throws -> Answer? {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<6:
            try send(message, "(reply lost) ")
            return nil
        case 6..<10: return nil
        case 10..<15:
            delayed.append(message)
            return nil
        default: return try send(message)
        }
    }

    private func sendAgain() throws {
        guard let message = random.pick(history) else { return }
        try send(message, "(again) ")
    }

    private func sendDelayed() throws {
        guard let at = delayed.indices.randomElement(using: &random) else { return }
        let message = random.chance(70) ? delayed.remove(at: at) : delayed[at]
        try send(message, "(late) ")
    }

    // MARK: The coordinator

    private func submit() throws {
        if random.chance(15), let known = random.pick(coordinator.batches) {
            let answer = try send(
                .submit(known.id, known.options, overwrite: random.chance(30), after: othersToWaitFor(known.id)))
            if case .submit(.submitted) = answer { coordinator.begin(known) }
        } else if bench.state.batches.count < 6 {
            let after = othersToWaitFor(nil)
            let batch = coordinator.newBatch(&random)
            try send(.submit(batch.id, batch.options, overwrite: random.chance(25), after: after))
        }
    }

    private func feed() throws {
        let open = coordinator.batches.filter { known in
            bench.state.batches[known.id].map { !$0.sealed && !$0.isCancelled } ?? random.chance(10)
        }
        guard let batch = random.pick(random.chance(90) ? open : coordinator.batches) else { return }
        var number = coordinator.next(batch.id)
        if random.chance(10) { number += Int.random(in: -2...2, using: &random) }
        for number in number..<number + Int.random(in: 1...4, using: &random) where number >= 1 {
            var photos = batch.photos(of: number)
            if random.chance(3) { photos = Int.random(in: 0...batch.options.operationSize + 1, using: &random) }
            guard photos > 0 || random.chance(10) else { continue }
            switch try deliver(.feed(batch.id, number: number, photos: photos)) {
            case .feed(.fed): coordinator.expects(batch.id, number + 1)
            case .feed(.expects(let next)): coordinator.expects(batch.id, next)
            case .feed(.gone) where random.chance(50): coordinator.drop(batch.id)
            case .feed(.full) where random.chance(70): return
            case .feed(.cancelled) where random.chance(70): return
            default: break
            }
        }
    }

    private func seal() throws {
        let there = coordinator.batches.filter { bench.state.batches[$0.id] != nil }
        guard let batch = random.pick(random.chance(85) ? there : coordinator.batches) else { return }
        // Sometimes seals the batch after the operations that are already fed, so that many batches finish.
        let content = bench.state.batches[batch.id]
        var (operations, photos) = (batch.operations, batch.photos)
        if let content, random.chance(25) { (operations, photos) = (content.operations, content.stateCodes.count) }
        if random.chance(10) { photos += Int.random(in: -1...1, using: &random) }
        _ = try deliver(.seal(batch.id, operations: operations, photos: photos))
    }

    private func forget() throws {
        // Usually picks from all batches, because batches without a coordinator must also be forgotten.
        let ids = random.chance(20) ? coordinator.batches.map(\.id) : bench.state.batches.keys.sorted()
        guard let id = random.pick(ids) else { return }
        try send(.forget(id, unfinished: random.chance(40)))
    }

    // MARK: The workers

    /// The index of a worker that is not stalled. There are at most four workers.
    private func awake() -> Int? {
        if workers.count < 4, workers.isEmpty || random.chance(10) {
            workersStarted += 1
            workers.append(WorkerModel(id: "w\(workersStarted)"))
        }
        return random.pick(workers.indices.filter { !workers[$0].isStalled })
    }

    private func claim() throws {
        guard let at = awake() else { return }
        var claim = workers[at].claim(repeating: random.chance(70))
        if claim.number == workers[at].number, !workers[at].isUnanswered {
            claim.operations = Int.random(in: 1...16, using: &random)
            claim.photos = random.pick([1, 5, 10, 60, 400, 4000])!
        }
        if random.chance(15) { claim.lowest = random.pick(BatchPriority.allCases)! }
        if random.chance(15) { claim.without = bench.state.batches.keys.sorted().filter { _ in random.chance(30) } }
        if random.chance(10) { claim.focus = random.pick(bench.state.batches.keys.sorted()) }
        if random.chance(20) { claim.refusals = refusals(of: claim.worker) }
        if random.chance(10) {
            let turn = Int.random(in: max(0, bench.state.turn - 20)...bench.state.turn, using: &random)
            claim.next = "\(Int.random(in: 0...4, using: &random)):\(turn)"
        }
        workers[at].isUnanswered = true
        guard case .claim(let reply) = try deliver(.claim(claim)) else { return }
        workers[at].isUnanswered = false
        guard case .claimed(let claimed) = reply else { return }
        workers[at].drop(claimed.lost)
        workers[at].take(claimed.operations)
    }

    /// Changes of the refusals of a worker. Most refusals end soon, so that batches finish.
    private func refusals(of worker: String) -> RefusalChanges {
        let refused = (bench.state.refusals[worker] ?? []).sorted()
        var changes = RefusalChanges(replacesAll: random.chance(30))
        changes.added = bench.state.batches.keys.sorted().filter { _ in random.chance(20) }
        changes.removed = refused.filter { _ in random.chance(60) }
        return changes
    }

    private func heartbeat() throws {
        guard let at = awake() else { return }
        var facts = random.chance(50) ? ["host=a", "slots=2"] : []
        let running = Set(workers[at].held.map(\.batch)).sorted().filter { _ in random.chance(70) }
        if random.chance(80) { facts.append("running=" + running.map { "\($0):0-3" }.joined(separator: " ")) }
        let message = Message.heartbeat(worker: workers[at].id, facts: facts, held: workers[at].held)
        guard let answer = try deliver(message), case .heartbeat(let reply) = answer else { return }
        workers[at].drop(reply.lost)
        workers[at].apply(reply)
        take(answer)
    }

    /// Adds the due webhooks of a reply.
    private func take(_ answer: Answer) {
        guard case .heartbeat(let reply) = answer else { return }
        due += reply.webhooks
        if due.count > 20 { due.removeFirst(10) }
    }

    private func report() throws {
        guard let at = awake(), let position = workers[at].work.indices.randomElement(using: &random) else { return }
        workers[at].work[position].advance(&random)
        let size = bench.state.batches[workers[at].work[position].held.batch]?.size ?? 1
        var report = workers[at].report(position, size: size, &random)
        if random.chance(5) { report.stateCodes = report.stateCodes.map { _ in random.pick(Array(".NDFGCaz".utf8))! } }
        guard let answer = try deliver(.report(report)), case .report(let reply) = answer else { return }
        switch reply {
        case .accepted(false, let stateCodes, _):
            if let stateCodes { workers[at].work[position].stateCodes = stateCodes }
        case .cancelled: workers[at].work[position].isCancelled = true
        case .accepted, .gone, .lost, .ended: workers[at].work.remove(at: position)
        }
    }

    private func release() throws {
        guard let at = awake() else { return }
        // Cancelled operations are released first.
        let cancelled = workers[at].work.indices.filter { workers[at].work[$0].isCancelled }
        guard let position = random.pick(cancelled.isEmpty ? Array(workers[at].work.indices) : cancelled) else {
            return
        }
        let message = Message.release(
            workers[at].work[position].held, worker: workers[at].id, isRefused: random.chance(30),
            delay: random.chance(40) ? Int.random(in: 1...3_600_000, using: &random) : 0,
            attempts: random.chance(60) ? Int.random(in: 1...9, using: &random) : 0)
        if try deliver(message) != nil { workers[at].work.remove(at: position) }
    }

    private func leave() throws {
        guard let at = awake() else { return }
        for held in workers[at].held { try send(.release(held, worker: workers[at].id)) }
        try send(.leave(worker: workers[at].id))
        workers.remove(at: at)
    }

    private func crashOrStall() {
        guard let at = workers.indices.randomElement(using: &random) else { return }
        if random.chance(25) { workers.remove(at: at) } else { workers[at].isStalled.toggle() }
    }

    /// Sends a message with a wrong worker, an older fencing token, an unknown operation or an unknown batch.
    private func forge() throws {
        guard let operation = random.pick(bench.state.leases.keys.sorted()),
            let content = bench.state.batches[operation.batch], let holder = content.executing[operation.number]
        else { return }
        func held(_ number: Int, _ fencingToken: Int) -> HeldOperation {
            HeldOperation(batch: operation.batch, number: number, fencingToken: fencingToken)
        }
        var worker = holder.worker
        var wrong = held(operation.number, holder.fencingToken)
        var count = content.photos(of: operation.number).count
        switch Int.random(in: 0..<5, using: &random) {
        case 0: worker = random.pick(["w0", worker + "0", String(worker.dropLast())])!
        case 1: wrong = held(operation.number, random.pick([holder.fencingToken - 1, 0, 1])!)
        case 2: wrong = held(operation.number + Int.random(in: 1...9, using: &random), 1)
        case 3:
            wrong = HeldOperation(batch: BatchID("nobody"), number: operation.number, fencingToken: holder.fencingToken)
        default: count += 1
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: if worker == holder.worker { try send(.heartbeat(worker: worker, facts: [], held: [wrong])) }
        case 1 where wrong.fencingToken != holder.fencingToken || worker != holder.worker:
            try send(.release(wrong, worker: worker))
        default:
            let stateCodes = Array(repeating: UInt8(ascii: "F"), count: count)
            try send(
                .report(Message.Report(held: wrong, worker: worker, stateCodes: stateCodes, bytesIn: 7, bytesOut: 7)))
        }
    }

    // MARK: Time

    /// Advances the lease clock by a part of a lease, or the retention clock by a part of the longest deferral, or resets the
    /// retention clock.
    private func passTime() throws {
        if random.chance(60) {
            let passed = Int.random(in: 1...5, using: &random) * 1_000_000
            try bench.tamper(["HINCRBY", "control", "lease.clock", String(passed)]) { $0.leaseClock += passed }
        } else if random.chance(95) {
            let passed = Int.random(in: 1...2_000_000, using: &random)
            try bench.tamper(["HINCRBY", "control", "retention.clock", String(passed)]) { $0.retentionClock += passed }
        } else {
            try bench.tamper(["HSET", "control", "retention.clock", "0"]) { $0.retentionClock = 0 }
        }
    }

    /// Simulates an outage of Redis of one hour, or a clock set back by one hour.
    private func jumpClock() throws {
        guard let seen = bench.state.seen else { return }
        let jumped = seen + (random.chance(50) ? -3_600_000 : 3_600_000)
        try bench.tamper(["HSET", "control", "seen", String(jumped)]) { $0.seen = jumped }
    }

    /// Simulates that the last sample of the progress of a batch was made earlier, or before the clock was set back.
    private func moveSample() throws {
        let executing = bench.state.batches.filter { $0.value.pace != nil }.keys.sorted()
        guard let id = random.pick(executing), let text = bench.state.batches[id]!.settings["pace"] else { return }
        let passed = random.pick([-60_000, 2500, 3000, 4000, 6000, 9000, 20_000])!
        let words = text.split(separator: " ")
        let moved = ([String(Int(words[0])! - passed)] + words.dropFirst().map(String.init)).joined(separator: " ")
        try bench.tamper(["HSET", "batch:\(id)", "pace", moved]) { $0.batches[id]!.settings["pace"] = moved }
    }

    private func expireBatch() throws {
        guard let id = random.pick(bench.state.expiring.keys.sorted()) else { return }
        // Without the second change, the state is the same as after a jump of the Redis clock.
        try bench.tamper(["ZADD", "expiring", "0", "\(id)"]) { $0.expiring[id] = 0 }
        guard random.chance(75) else { return }
        try bench.tamper(["HSET", "batch:\(id)", "expires", "0"]) { $0.batches[id]!.settings["expires"] = "0" }
    }

    private func silenceWorker() throws {
        guard let worker = random.pick(bench.state.workers.keys.sorted()) else { return }
        // In the future: as after the clock of the server was set back.
        let long = bench.state.workers[worker]! + (random.chance(80) ? -3_600_000 - 60_000 : 3_600_000)
        try bench.tamper(["ZADD", "workers", String(long), worker]) { $0.workers[worker] = long }
    }
}
