import DarkroomHosts
import DarkroomModel

@testable import DarkroomStore
@testable import StoreInspection

/// A message to Redis: the call of one script with its arguments. A run may send it late, repeatedly or never.
enum Message {
    case submit(BatchID, BatchOptions, overwrite: Bool, after: [BatchID])
    case feed(BatchID, number: Int, photos: Int)
    case seal(BatchID, operations: Int, photos: Int)
    case claim(Claim)
    case heartbeat(worker: String?, facts: [String], held: [HeldOperation])
    case report(Report)
    /// The delay of a deferral in ms, and the attempts to download the first photo.
    case release(HeldOperation, worker: String, isRefused: Bool = false, delay: Int = 0, attempts: Int = 0)
    case forget(BatchID, unfinished: Bool)
    case expireLeases
    case leave(worker: String)
    case cancel(BatchID, reason: String)
    case cancelPhotos(BatchID, [ClosedRange<Int>])
    /// Suspends (true) or resumes (false) a batch, or the cluster if the batch is nil.
    case suspend(BatchID?, QueuePart, Bool)
    case prioritize(BatchID, BatchPriority)
    case focus(BatchID, BatchControls.Focus?)
    case clearFocus(BatchID, ifStill: ClosedRange<Int>)
    case limit(downloads: Int?, filtrations: Int?)
    case clearLimits
    case addDependency(BatchID, on: BatchID, version: Int)
    case removeDependency(BatchID, from: BatchID)
    case retry(BatchID, ClosedRange<Int>, [FailureReason], overwrite: Bool)
    case restoreEntry(BatchID, number: Int, photos: Int)
    /// Reopens a batch whose list has grown. `operations`, `photos` and `digest` describe the feed that the feeder has
    /// compared with the list; `last` is the new number of photos of the last operation.
    case grow(BatchID, operations: Int, photos: Int, digest: String, last: Int?)
    case takeWebhook(DueWebhook, Duration)
    case endWebhookAttempt(String, score: Int, retryAfter: Duration?)
    /// Does one step of checking batches.
    case repair(BatchID?)

    struct Claim {
        var worker: String
        var number: Int
        var operations = 16
        var photos = 4000
        var lowest = BatchPriority.veryLow
        var next = ""
        var focus: BatchID?
        var refusals = RefusalChanges()
        var without: [BatchID] = []
        var held: [HeldOperation] = []
    }

    struct Report {
        var held: HeldOperation
        var worker: String
        var stateCodes: [UInt8]
        var bytesIn = 0
        var bytesOut = 0
        var failures: [Int] = []
    }

    /// The entry that the tests feed for an operation. The scripts do not read it.
    static func entry(_ id: BatchID, _ number: Int, _ photos: Int) -> String { "\(photos) photos of \(id)/\(number)" }

    /// The digest that the tests feed with an operation.
    static func digest(_ id: BatchID, _ number: Int) -> String { "digest of \(id)/\(number)" }

    /// The digest that the tests feed with an operation to which photos were added.
    static func digest(_ id: BatchID, _ number: Int, grownTo photos: Int) -> String {
        "\(digest(id, number)) with \(photos) photos"
    }

    /// The failure that the tests store for a photo.
    static func failure(_ index: Int) -> String { "{\"index\":\(index)}" }
}

extension Message {
    /// Sends the message to Redis and waits for the reply.
    func perform(_ store: BatchStore) throws(StoreError) -> Answer {
        do {
            return try call(store)
        } catch {
            guard error.redis?.serverReply != nil else { throw error }
            return .rejected
        }
    }

    /// The fields and values of a heartbeat's facts, which are `<field>=<value>`.
    static func pairs(_ facts: [String]) -> [(field: String, value: String)] {
        facts.map { fact in
            let parts = fact.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            return (field: parts[0], value: parts.last ?? "")
        }
    }

    private func call(_ store: BatchStore) throws(StoreError) -> Answer {
        switch self {
        case .submit(let id, let options, let overwrite, let after):
            return .submit(try store.perform(store.submit(id, options, overwrite: overwrite, after: after)))
        case .feed(let id, let number, let photos):
            let entry = Array(Self.entry(id, number, photos).utf8)
            let digest = Self.digest(id, number)
            return .feed(
                try store.perform(store.feed(id, operation: number, photos: photos, entry: entry, digest: digest)))
        case .seal(let id, let operations, let photos):
            return .seal(try store.perform(store.seal(id, operations: operations, photos: photos)))
        case .claim(let claim): return .claim(try Self.claim(claim, store))
        case .heartbeat(let worker, let facts, let held):
            var reply = try store.perform(store.heartbeat(worker: worker, facts: Self.pairs(facts), held: held))
            reply.lost = reply.lost.sorted()
            reply.stateCodes = Self.sorted(reply.stateCodes)
            return .heartbeat(reply)
        case .report(let report):
            let failures = report.failures.map { (index: $0, json: Array(Self.failure($0).utf8)) }
            return .report(
                try store.perform(
                    store.report(
                        report.held, worker: report.worker, stateCodes: report.stateCodes, bytesIn: report.bytesIn,
                        bytesOut: report.bytesOut, failures: failures)))
        case .release(let held, let worker, let isRefused, let delay, let attempts):
            var history = RetryHistory()
            history.attempts = attempts
            return .release(
                try store.perform(
                    store.release(
                        held, worker: worker, isRefused: isRefused, after: .milliseconds(delay),
                        retries: attempts == 0 ? [:] : [0: history])))
        case .forget(let id, let unfinished):
            return .forget(try store.perform(store.forget(id, unfinished: unfinished)))
        case .expireLeases:
            while try store.perform(store.expireLeases()) {}
            return .done
        case .leave(let worker):
            try store.perform(store.leave(worker: worker))
            return .done
        default: return try control(store)
        }
    }

    /// Sends controls, and messages about finished batches.
    private func control(_ store: BatchStore) throws(StoreError) -> Answer {
        switch self {
        case .repair(let id): return .repair(try store.perform(store.repair(id)).repairs)
        case .cancel(let id, let reason): return .cancel(try store.perform(store.cancel(id, reason: reason)))
        case .cancelPhotos(let id, let ranges): return .cancelPhotos(try store.perform(store.cancelPhotos(id, ranges)))
        case .suspend(let id, let part, let isSuspended):
            return .control(try store.perform(store.suspend(id, part, isSuspended)))
        case .prioritize(let id, let priority): return .control(try store.perform(store.prioritize(id, priority)))
        case .focus(let id, let focus): return .focus(try store.perform(store.focus(id, focus)))
        case .clearFocus(let id, let photos):
            return .focus(try store.perform(store.clearFocus(id, ifStill: photos)))
        case .limit(let downloads, let filtrations):
            return .limited(try store.perform(store.setLimits(downloads: downloads, filtrations: filtrations)))
        case .clearLimits: return .limited(try store.perform(store.clearLimits()))
        case .addDependency(let id, let other, let version):
            return .addDependency(try store.perform(store.addDependency(id, on: other, version: version)))
        case .removeDependency(let id, let other):
            return .removeDependency(try store.perform(store.removeDependency(id, from: other)))
        case .grow(let id, let operations, let photos, let digest, let last):
            return .grow(
                try store.perform(
                    store.grow(
                        id, fed: (operations, photos, digest),
                        last: last.map {
                            (
                                $0, Array(Self.entry(id, operations, $0).utf8),
                                Self.digest(id, operations, grownTo: $0)
                            )
                        })))
        case .retry(let id, let operations, let reasons, let overwrite):
            return .retry(
                try store.perform(
                    store.retry(
                        id, from: operations.lowerBound, through: operations.upperBound, reasons: reasons,
                        overwrite: overwrite)))
        case .restoreEntry(let id, let number, let photos):
            let entry = Array(Self.entry(id, number, photos).utf8)
            return .restoreEntry(try store.perform(store.restoreEntry(id, operation: number, entry: entry)))
        case .takeWebhook(let due, let duration):
            return .takeWebhook(try store.perform(store.takeWebhook(due, for: duration)))
        case .endWebhookAttempt(let member, let score, let delay):
            return .webhookAttempt(try store.perform(store.endWebhookAttempt(member, score: score, retryAfter: delay)))
        default: preconditionFailure("the function `call` sends this message: \(self)")
        }
    }

    /// Sorts state codes, because their order in a reply is not fixed.
    static func sorted(_ stateCodes: [HeartbeatReply.StateCodes]) -> [HeartbeatReply.StateCodes] {
        stateCodes.sorted { ($0.batch, $0.number) < ($1.batch, $1.number) }
    }

    private static func claim(_ claim: Claim, _ store: BatchStore) throws(StoreError) -> ClaimReply {
        let reply = try store.perform(
            store.claim(
                worker: claim.worker, number: claim.number, operations: claim.operations, photos: claim.photos,
                lowest: claim.lowest, next: claim.next, focus: claim.focus, refusals: claim.refusals,
                without: claim.without, held: claim.held))
        guard case .claimed(var claimed) = reply else { return reply }
        claimed.lost = claimed.lost.sorted()
        return .claimed(claimed)
    }
}

extension Message: CustomStringConvertible {
    /// The text in the log of a run.
    var description: String {
        func text(_ held: HeldOperation) -> String { "\(held.batch)/\(held.number) under \(held.fencingToken)" }
        func list(_ held: [HeldOperation]) -> String { "[" + held.map(text).joined(separator: ", ") + "]" }
        switch self {
        case .submit(let id, let options, let overwrite, let after):
            return "submit \(id), size \(options.operationSize), window \(options.window), \(options.priority), "
                + "lease \(options.lease), retain \(options.retain as Duration?), output \"\(options.output)\""
                + (overwrite ? ", overwrite" : "") + (options.originals.isEmpty ? "" : ", originals")
                + (options.webhook.isEmpty ? "" : ", webhook") + (after.isEmpty ? "" : ", after \(after)")
                + (options.afterSuccess ? ", after success" : "")
        case .feed(let id, let number, let photos): return "feed \(id)/\(number), \(photos) photos"
        case .seal(let id, let operations, let photos):
            return "seal \(id), \(operations) operations, \(photos) photos"
        case .claim(let claim):
            return "claim \(claim.number) of \(claim.worker), \(claim.operations) operations, \(claim.photos) photos, "
                + "from \(claim.lowest), focus \(claim.focus?.description ?? "none"), next \"\(claim.next)\", "
                + "\(claim.refusals), without \(claim.without), held \(list(claim.held))"
        case .heartbeat(let worker, let facts, let held):
            return "heartbeat of \(worker ?? "no worker"), facts \(facts), held \(list(held))"
        case .report(let report):
            let stateCodes = String(decoding: report.stateCodes, as: UTF8.self)
            return "report of \(report.worker) for \(text(report.held)): \(stateCodes), "
                + "bytes \(report.bytesIn) \(report.bytesOut), failures \(report.failures)"
        case .release(let held, let worker, let isRefused, let delay, let attempts):
            return "release of \(worker) for \(text(held))\(isRefused ? ", refused" : ""), after \(delay) ms, "
                + "\(attempts) attempts"
        case .forget(let id, let unfinished): return "forget \(id)" + (unfinished ? ", also unfinished" : "")
        case .expireLeases: return "expire all leases"
        case .leave(let worker): return "\(worker) leaves"
        case .cancel(let id, let reason): return "cancel \(id) \(reason)"
        case .cancelPhotos(let id, let ranges): return "cancel \(ranges) of \(id)"
        case .suspend(let id, let part, let isSuspended):
            return "\(isSuspended ? "suspend" : "resume") \(part) of \(id?.description ?? "the cluster")"
        case .prioritize(let id, let priority): return "prioritize \(id) \(priority)"
        case .clearFocus(let id, let photos): return "clear the focus of \(id) if it is still \(photos)"
        case .focus(let id, let focus):
            return "focus \(id) on \(focus.map { "\($0.photos)\($0.only ? " only" : "")" } ?? "nothing")"
        case .limit(let downloads, let filtrations):
            return "limits \(downloads as Int?) downloads, \(filtrations as Int?) filtrations"
        case .clearLimits: return "no limits"
        case .addDependency(let id, let other, let version): return "\(id) waits for \(other), as of \(version)"
        case .removeDependency(let id, let other): return "\(id) no longer waits for \(other)"
        case .grow(let id, let operations, let photos, _, let last):
            return "grow \(id), \(operations) operations, \(photos) photos, the last to \(last ?? 0)"
        case .retry(let id, let operations, let reasons, let overwrite):
            return
                "retry \(operations) of \(id), reasons \(reasons.map(\.word))\(overwrite ? ", taking the folder" : "")"
        case .restoreEntry(let id, let number, let photos): return "restore \(id)/\(number), \(photos) photos"
        case .takeWebhook(let due, let duration):
            return "take the webhook \(due.member) at \(due.score) for \(duration)"
        case .endWebhookAttempt(let member, let score, let delay):
            return "end the attempt of the webhook \(member) at \(score), retry after \(delay as Duration?)"
        case .repair(let id): return "check \(id?.description ?? "the next batch")"
        }
    }
}

extension Array where Element == HeldOperation {
    /// Sorts operations, because the order of batches in a reply is not fixed.
    func sorted() -> [HeldOperation] {
        sorted {
            ($0.batch.description, $0.number, $0.fencingToken) < ($1.batch.description, $1.number, $1.fencingToken)
        }
    }
}
