import DarkroomModel

@testable import DarkroomStore

/// A random run: coordinators and workers that do their work, and everything that can go wrong with them and with their
/// messages. What happens depends on the seed alone, not on the clock.
///
/// Leases are so long that none expires by itself; time passes in leaps, by setting attended time forward.
final class ModelRun {
    let bench: ModelBench
    private var random: SeededGenerator
    private var coordinator = FeederModel()
    private var workers: [WorkerModel] = []
    private var workersStarted = 0
    private var history: [Message] = []
    private var delayed: [Message] = []

    init(_ store: BatchStore, seed: UInt64) {
        bench = ModelBench(store)
        random = SeededGenerator(seed: seed)
    }

    /// Runs at least `steps` messages, then lets everything come to its end.
    func run(steps: Int) throws {
        while bench.steps < steps { try step() }
        try drain()
    }

    /// What happens, and how often in 160 cases.
    private func step() throws {
        switch Int.random(in: 0..<160, using: &random) {
        case 0..<6: try submit()
        case 6..<32: try feed()
        case 32..<37: try seal()
        case 37..<55: try claim()
        case 55..<63: try heartbeat()
        case 63..<109: try report()
        case 109..<113: try handback()
        case 113..<124: try sendAgain()
        case 124..<130: try sendDelayed()
        case 130..<134: try send(.heartbeat(worker: nil, facts: [], held: []))
        case 134..<138: try passTime()
        case 138: try jumpClock()
        case 139..<142: dieOrStall()
        case 142: try leave()
        case 143..<145: try forget()
        case 145..<147: try expireBatch()
        case 147: try silenceWorker()
        case 148: if random.chance(20) { try send(.expireLeases) }
        case 149..<151: try bench.save()
        case 151: if random.chance(50) { try bench.rollBack() }
        default: try forge()
        }
    }

    // MARK: Messages and what becomes of them

    /// Sends a message for sure and at once.
    @discardableResult
    private func send(_ message: Message, _ remark: String = "") throws -> Answer {
        history.append(message)
        if history.count > 300 { history.removeFirst(100) }
        return try bench.send(message, remark)
    }

    /// Sends a message as networks do; nil when its sender gets no answer.
    private func deliver(_ message: Message) throws -> Answer? {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<6:
            try send(message, "(answer lost) ")
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
            let answer = try send(.submit(known.id, known.options, overwrite: random.chance(30)))
            if case .submit(.submitted) = answer { coordinator.begin(known) }
        } else if bench.state.batches.count < 6 {
            let batch = coordinator.newBatch(&random)
            try send(.submit(batch.id, batch.options, overwrite: random.chance(25)))
        }
    }

    private func feed() throws {
        let open = coordinator.batches.filter { bench.state.batches[$0.id]?.sealed != true }
        guard let batch = random.pick(random.chance(85) ? open : coordinator.batches) else { return }
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
            default: break
            }
        }
    }

    private func seal() throws {
        guard let batch = random.pick(coordinator.batches) else { return }
        // Also in the middle of the feed, with what is there, so that many batches come to their end.
        let content = bench.state.batches[batch.id]
        var (operations, photos) = (batch.operations, batch.photos)
        if let content, random.chance(25) { (operations, photos) = (content.operations, content.letters.count) }
        if random.chance(10) { photos += Int.random(in: -1...1, using: &random) }
        _ = try deliver(.seal(batch.id, operations: operations, photos: photos))
    }

    private func forget() throws {
        // Also those whose coordinator is gone, so that there is room for others.
        let ids = random.chance(20) ? coordinator.batches.map(\.id) : bench.state.batches.keys.sorted()
        guard let id = random.pick(ids) else { return }
        try send(.forget(id, unfinished: random.chance(40)))
    }

    // MARK: The workers

    /// A worker that is awake, its place in the list; there are four at most.
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
        if random.chance(15) { claim.lowest = random.pick(Priority.allCases)! }
        if random.chance(15) { claim.refused = bench.state.batches.keys.sorted().filter { _ in random.chance(30) } }
        if random.chance(10) {
            let turn = Int.random(in: max(0, bench.state.turn - 20)...bench.state.turn, using: &random)
            claim.next = "\(Int.random(in: 0...4, using: &random)):\(turn)"
        }
        workers[at].isUnanswered = true
        guard case .claim(let reply) = try deliver(.claim(claim)) else { return }
        workers[at].isUnanswered = false
        guard case .claimed(let claimed) = reply else { return }
        let (operations, lost) = (claimed.operations, claimed.lost)
        workers[at].drop(lost)
        workers[at].take(operations)
    }

    private func heartbeat() throws {
        guard let at = awake() else { return }
        let facts = random.chance(50) ? ["host", "slots"] : []
        let message = Message.heartbeat(worker: workers[at].id, facts: facts, held: workers[at].held)
        if case .heartbeat(let lost) = try deliver(message) { workers[at].drop(lost) }
    }

    private func report() throws {
        guard let at = awake(), let position = workers[at].work.indices.randomElement(using: &random) else { return }
        workers[at].work[position].goOn(&random)
        let size = bench.state.batches[workers[at].work[position].held.batch]?.size ?? 1
        var report = workers[at].report(position, size: size, &random)
        if random.chance(5) { report.letters = report.letters.map { _ in random.pick(Array(".NDFCaz".utf8))! } }
        guard let answer = try deliver(.report(report)), case .report(let reply) = answer else { return }
        switch reply {
        case .accepted(false, let letters, _):
            if let letters { workers[at].work[position].letters = letters }
        case .accepted, .gone, .lost, .ended, .cancelled: workers[at].work.remove(at: position)
        }
    }

    private func handback() throws {
        guard let at = awake(), let position = workers[at].work.indices.randomElement(using: &random) else { return }
        let message = Message.handback(workers[at].work[position].held, worker: workers[at].id)
        if try deliver(message) != nil { workers[at].work.remove(at: position) }
    }

    private func leave() throws {
        guard let at = awake() else { return }
        for held in workers[at].held { try send(.handback(held, worker: workers[at].id)) }
        try send(.leave(worker: workers[at].id))
        workers.remove(at: at)
    }

    private func dieOrStall() {
        guard let at = workers.indices.randomElement(using: &random) else { return }
        if random.chance(25) { workers.remove(at: at) } else { workers[at].isStalled.toggle() }
    }

    /// Messages that are wrong: another's name, an older fence, an operation or a batch that is none.
    private func forge() throws {
        guard let operation = random.pick(bench.state.leases.keys.sorted()),
            let content = bench.state.batches[operation.batch], let holder = content.executing[operation.number]
        else { return }
        func held(_ number: Int, _ fence: Int) -> HeldOperation {
            HeldOperation(batch: operation.batch, number: number, fence: fence)
        }
        var worker = holder.worker
        var wrong = held(operation.number, holder.fence)
        var count = content.photos(of: operation.number).count
        switch Int.random(in: 0..<5, using: &random) {
        case 0: worker = random.pick(["w0", worker + "0", String(worker.dropLast())])!
        case 1: wrong = held(operation.number, random.pick([holder.fence - 1, 0, 1])!)
        case 2: wrong = held(operation.number + Int.random(in: 1...9, using: &random), 1)
        case 3: wrong = HeldOperation(batch: BatchID("nobody's"), number: operation.number, fence: holder.fence)
        default: count += 1
        }
        switch Int.random(in: 0..<3, using: &random) {
        case 0: if worker == holder.worker { try send(.heartbeat(worker: worker, facts: [], held: [wrong])) }
        case 1 where wrong.fence != holder.fence || worker != holder.worker:
            try send(.handback(wrong, worker: worker))
        default:
            let letters = Array(repeating: UInt8(ascii: "F"), count: count)
            try send(.report(Message.Report(held: wrong, worker: worker, letters: letters, bytesIn: 7, bytesOut: 7)))
        }
    }

    // MARK: Time

    /// Attended time goes on by a part of the leases.
    private func passTime() throws {
        let passed = Int.random(in: 1...5, using: &random) * 1_000_000
        try bench.tamper(["HINCRBY", "control", "attended", String(passed)]) { $0.attended += passed }
    }

    /// Redis was away for an hour, or its clock was set back by one.
    private func jumpClock() throws {
        guard let seen = bench.state.seen else { return }
        let jumped = seen + (random.chance(50) ? -3_600_000 : 3_600_000)
        try bench.tamper(["HSET", "control", "seen", String(jumped)]) { $0.seen = jumped }
    }

    private func expireBatch() throws {
        guard let id = random.pick(bench.state.expiring.keys.sorted()) else { return }
        try bench.tamper(["ZADD", "expiring", "0", "\(id)"]) { $0.expiring[id] = 0 }
    }

    private func silenceWorker() throws {
        guard let worker = random.pick(bench.state.workers.keys.sorted()) else { return }
        let long = bench.state.workers[worker]! - 3_600_000 - 60_000
        try bench.tamper(["ZADD", "workers", String(long), worker]) { $0.workers[worker] = long }
    }

    // MARK: The end

    /// Whatever happened: one worker that lives brings everything to its end, and forgetting leaves nothing behind.
    private func drain() throws {
        for (id, content) in bench.state.batches.sorted(by: { $0.key < $1.key }) {
            try send(.seal(id, operations: content.operations, photos: content.letters.count))
        }
        try bench.tamper(["HINCRBY", "control", "attended", "1000000000"]) { $0.attended += 1_000_000_000 }
        var rounds = 0
        while bench.state.batches.values.contains(where: { $0.state != .finished }) {
            rounds += 1
            guard rounds < 1000 else { throw bench.failure(["a worker that lives does not bring it to its end"]) }
            guard case .claim(.claimed(let claimed)) = try send(.claim(.init(worker: "last", number: rounds)))
            else { throw bench.failure(["the last worker's claim was refused"]) }
            for operation in claimed.operations {
                let letters = operation.letters.map { $0 == UInt8(ascii: "N") ? UInt8(ascii: "F") : $0 }
                try send(.report(.init(held: operation.held, worker: "last", letters: letters)))
            }
        }
        for id in bench.state.batches.keys.sorted() { try send(.forget(id, unfinished: false)) }
        for worker in bench.state.workers.keys.sorted() { try send(.leave(worker: worker)) }
        let left = bench.state
        guard left.leases.isEmpty, left.rings.isEmpty, left.outputs.isEmpty, left.expiring.isEmpty else {
            throw bench.failure(["something is left of batches that are forgotten"])
        }
    }
}
