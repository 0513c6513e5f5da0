import DarkroomModel

@testable import DarkroomStore

/// A message to Redis: the call of one script with its arguments, which can be sent late, again, or never.
enum Message {
    case submit(BatchID, BatchOptions, overwrite: Bool)
    case feed(BatchID, number: Int, photos: Int)
    case seal(BatchID, operations: Int, photos: Int)
    case claim(Claim)
    case heartbeat(worker: String?, facts: [String], held: [HeldOperation])
    case report(Report)
    case handback(HeldOperation, worker: String)
    case forget(BatchID, unfinished: Bool)
    case expireLeases
    case leave(worker: String)

    struct Claim {
        var worker: String
        var number: Int
        var operations = 16
        var photos = 4000
        var lowest = Priority.veryLow
        var next = ""
        var refused: [BatchID] = []
        var held: [HeldOperation] = []
    }

    struct Report {
        var held: HeldOperation
        var worker: String
        var letters: [UInt8]
        var bytesIn = 0
        var bytesOut = 0
        var failures: [Int] = []
    }

    /// The entry that the tests feed for an operation; what it holds is nothing to the scripts.
    static func entry(_ id: BatchID, _ number: Int, _ photos: Int) -> String { "\(photos) photos of \(id)/\(number)" }

    /// The digest that the tests feed with an operation.
    static func digest(_ id: BatchID, _ number: Int) -> String { "digest of \(id)/\(number)" }

    /// What the tests keep of a failed photo.
    static func failure(_ index: Int) -> String { "{\"index\":\(index)}" }
}

/// What a script answers to a message, comparable.
enum Answer: Equatable {
    case submit(SubmitReply)
    case feed(FeedReply)
    case seal(SealReply)
    case claim(ClaimReply)
    case heartbeat([HeldOperation])
    case report(ReportReply)
    case handback(HandbackReply)
    case forget(ForgetReply)
    /// Leave, and expire, which say nothing of interest.
    case done
    /// The script refused its arguments.
    case refused
}

extension Message {
    /// Sends it to Redis and waits for the answer.
    func perform(_ store: BatchStore) throws(StoreError) -> Answer {
        do {
            return try call(store)
        } catch {
            guard error.redis?.serverReply != nil else { throw error }
            return .refused
        }
    }

    private func call(_ store: BatchStore) throws(StoreError) -> Answer {
        switch self {
        case .submit(let id, let options, let overwrite):
            return .submit(try store.perform(store.submit(id, options, overwrite: overwrite)))
        case .feed(let id, let number, let photos):
            let entry = Array(Self.entry(id, number, photos).utf8)
            let digest = Self.digest(id, number)
            return .feed(
                try store.perform(store.feed(id, operation: number, photos: photos, entry: entry, digest: digest)))
        case .seal(let id, let operations, let photos):
            return .seal(try store.perform(store.seal(id, operations: operations, photos: photos)))
        case .claim(let claim): return .claim(try Self.claim(claim, store))
        case .heartbeat(let worker, let facts, let held):
            let pairs = facts.map { (field: $0, value: $0) }
            return .heartbeat(
                try store.perform(store.heartbeat(worker: worker, facts: pairs, held: held)).lost.sorted())
        case .report(let report):
            let failures = report.failures.map { (index: $0, json: Array(Self.failure($0).utf8)) }
            return .report(
                try store.perform(
                    store.report(
                        report.held, worker: report.worker, letters: report.letters, bytesIn: report.bytesIn,
                        bytesOut: report.bytesOut, failures: failures)))
        case .handback(let held, let worker):
            return .handback(try store.perform(store.handback(held, worker: worker)))
        case .forget(let id, let unfinished):
            return .forget(try store.perform(store.forget(id, unfinished: unfinished)))
        case .expireLeases:
            while try store.perform(store.expireLeases()) {}
            return .done
        case .leave(let worker):
            try store.perform(store.leave(worker: worker))
            return .done
        }
    }

    private static func claim(_ claim: Claim, _ store: BatchStore) throws(StoreError) -> ClaimReply {
        let reply = try store.perform(
            store.claim(
                worker: claim.worker, number: claim.number, operations: claim.operations, photos: claim.photos,
                lowest: claim.lowest, next: claim.next, refused: claim.refused, held: claim.held))
        guard case .claimed(let claimed) = reply else { return reply }
        return .claimed(claimed.operations, lost: claimed.lost.sorted(), next: claimed.next)
    }
}

extension ClaimReply {
    /// What a claim brought, without what holds for batches and cluster.
    static func claimed(_ operations: [ClaimedOperation], lost: [HeldOperation], next: String) -> ClaimReply {
        .claimed(
            Claimed(
                operations: operations, lost: lost, next: next, version: 0, cluster: ClusterSteering(), steering: [:]))
    }
}

extension Message: CustomStringConvertible {
    /// What a log of a run shows.
    var description: String {
        func text(_ held: HeldOperation) -> String { "\(held.batch)/\(held.number) under \(held.fence)" }
        func list(_ held: [HeldOperation]) -> String { "[" + held.map(text).joined(separator: ", ") + "]" }
        switch self {
        case .submit(let id, let options, let overwrite):
            return "submit \(id), size \(options.operationSize), window \(options.window), \(options.priority), "
                + "lease \(options.lease), retain \(options.retain as Duration?), output \"\(options.output)\""
                + (overwrite ? ", overwrite" : "")
        case .feed(let id, let number, let photos): return "feed \(id)/\(number), \(photos) photos"
        case .seal(let id, let operations, let photos):
            return "seal \(id), \(operations) operations, \(photos) photos"
        case .claim(let claim):
            return "claim \(claim.number) of \(claim.worker), \(claim.operations) operations, \(claim.photos) photos, "
                + "from \(claim.lowest), next \"\(claim.next)\", refused \(claim.refused), held \(list(claim.held))"
        case .heartbeat(let worker, let facts, let held):
            return "heartbeat of \(worker ?? "nobody"), facts \(facts), held \(list(held))"
        case .report(let report):
            let letters = String(decoding: report.letters, as: UTF8.self)
            return "report of \(report.worker) for \(text(report.held)): \(letters), "
                + "bytes \(report.bytesIn) \(report.bytesOut), failures \(report.failures)"
        case .handback(let held, let worker): return "hand-back of \(worker) for \(text(held))"
        case .forget(let id, let unfinished): return "forget \(id)" + (unfinished ? ", also unfinished" : "")
        case .expireLeases: return "expire all leases"
        case .leave(let worker): return "\(worker) leaves"
        }
    }
}

extension Answer: CustomStringConvertible {
    /// What a log of a run shows.
    var description: String {
        switch self {
        case .submit(let reply): return "\(reply)"
        case .feed(let reply): return "\(reply)"
        case .seal(let reply): return "\(reply)"
        case .claim(.old): return "old"
        case .claim(.claimed(let claimed)):
            let handed = claimed.operations.map {
                "\($0.held.batch)/\($0.held.number) under \($0.held.fence) "
                    + "\(String(decoding: $0.letters, as: UTF8.self)) \($0.deaths) deaths \"\(String(decoding: $0.entry, as: UTF8.self))\""
            }
            return "\(handed), lost \(Self.text(claimed.lost)), next \"\(claimed.next)\""
        case .heartbeat(let lost): return "lost \(Self.text(lost))"
        case .report(.accepted(let ended, let letters, _)):
            return (ended ? "ended" : "accepted") + (letters.map { " " + String(decoding: $0, as: UTF8.self) } ?? "")
        case .report(.ended(let letters)), .handback(.ended(let letters)):
            return "had ended " + String(decoding: letters, as: UTF8.self)
        case .report(let reply): return "\(reply)"
        case .handback(let reply): return "\(reply)"
        case .forget(let reply): return "\(reply)"
        case .done: return "done"
        case .refused: return "refused with an error"
        }
    }

    /// Which of a script's answers it is, without numbers.
    var kind: String {
        switch self {
        case .submit(.submitted): "submit: submitted"
        case .submit(.exists): "submit: exists"
        case .submit(.outputTaken): "submit: output taken"
        case .submit(.gone): "submit: gone"
        case .feed(.expects): "feed: expects"
        case .feed(let reply): "feed: \(reply)"
        case .seal(.differs): "seal: differs"
        case .seal(let reply): "seal: \(reply)"
        case .claim(.old): "claim: old"
        case .claim(.claimed(let claimed)):
            "claim: \(claimed.operations.isEmpty ? "nothing" : "operations")\(claimed.lost.isEmpty ? "" : ", lost")"
        case .heartbeat(let lost): lost.isEmpty ? "heartbeat" : "heartbeat: lost"
        case .report(.accepted(let ended, let letters, _)):
            "report: \(ended ? "ended it" : "accepted")\(letters == nil ? "" : ", differs")"
        case .report(.ended): "report: had ended"
        case .report(let reply): "report: \(reply)"
        case .handback(.ended): "hand-back: had ended"
        case .handback(let reply): "hand-back: \(reply)"
        case .forget(.unfinished): "forget: unfinished"
        case .forget(let reply): "forget: \(reply)"
        case .done: "done"
        case .refused: "refused"
        }
    }

    /// Every answer that a long run meets.
    static let kinds: Set = [
        "submit: submitted", "submit: exists", "submit: output taken", "feed: fed", "feed: gone", "feed: expects",
        "feed: sealed", "feed: short", "feed: full", "seal: sealed", "seal: gone", "seal: differs", "claim: old",
        "claim: nothing", "claim: operations", "claim: nothing, lost", "claim: operations, lost", "heartbeat",
        "heartbeat: lost", "report: accepted", "report: accepted, differs", "report: ended it",
        "report: ended it, differs", "report: gone", "report: lost", "report: had ended", "hand-back: queued",
        "hand-back: gone", "hand-back: lost", "hand-back: had ended", "forget: forgotten", "forget: gone",
        "forget: unfinished", "done", "refused",
    ]

    private static func text(_ lost: [HeldOperation]) -> [String] {
        lost.map { "\($0.batch)/\($0.number) under \($0.fence)" }
    }
}

extension Array where Element == HeldOperation {
    /// In an order of their own: that of the batches in a message is not fixed.
    func sorted() -> [HeldOperation] {
        sorted { ($0.batch.description, $0.number, $0.fence) < ($1.batch.description, $1.number, $1.fence) }
    }
}
