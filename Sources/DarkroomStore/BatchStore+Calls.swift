import DarkroomModel
import DarkroomRedis

/// The calls of the scripts. Each is a value: perform it alone, or several in one pipeline.
extension BatchStore {
    /// Answers a random number that this namespace of this Redis keeps, and no other has.
    public func identify() -> ScriptCall<Int> {
        let arguments = [[UInt8](Int.random(in: 1...(1 << 52)))]
        return ScriptCall(StoreScripts.identify, scriptKeys, arguments) { reply throws(StoreError) in
            guard reply.status == "OK" else { throw reply.unexpected }
            return try reply.int(1)
        }
    }

    /// Submits a batch without photos. Repeating it does no harm.
    /// - Parameters:
    ///   - id: a new id.
    ///   - options: what is asked of it.
    ///   - overwrite: take the output folder also when another batch has it.
    ///   - seen: the number of the holder that the output folder names.
    ///   - others: the batches that it waits for, at most 100.
    public func submit(
        _ id: BatchID, _ options: BatchOptions, overwrite: Bool = false, above seen: Int = 0,
        after others: [BatchID] = []
    ) -> ScriptCall<SubmitReply> {
        var arguments = [
            [UInt8](id.description), [UInt8](options.output), [UInt8](seen), [UInt8](overwrite ? 1 : 0),
            [UInt8](options.name), [UInt8](others.count),
        ]
        arguments += others.map { [UInt8]($0.description) }
        for (field, value) in options.fields { arguments += [[UInt8](field), [UInt8](value)] }
        return ScriptCall(StoreScripts.submit, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK": .submitted(at: try reply.int(1))
            case "EXISTS": .exists
            case "FORGOTTEN": .forgotten
            case "OUTPUT": .outputTaken(by: try reply.batch(1))
            case "NAME": .nameTaken(by: try reply.batch(1))
            case "GONE": .gone(try reply.batch(1))
            default: throw reply.unexpected
            }
        }
    }

    /// Feeds operation `number`, accepted only as the next one. Repeating it does no harm.
    /// - Parameters:
    ///   - id: the batch.
    ///   - number: from 1, each as many photos as the batch's operation size; only the last may have fewer.
    ///   - photos: how many the entry has.
    ///   - entry: the photos as ``EntryCoding`` packs them.
    ///   - digest: the chained digest of the feed after this operation, hexadecimal.
    public func feed(
        _ id: BatchID, operation number: Int, photos: Int, entry: [UInt8], digest: String
    ) -> ScriptCall<FeedReply> {
        let arguments = [[UInt8](id.description), [UInt8](number), [UInt8](photos), entry, [UInt8](digest)]
        return ScriptCall(StoreScripts.feed, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK": .fed
            case "GONE": .gone
            case "EXPECT": .expects(try reply.int(1))
            case "SEALED": .sealed
            case "SHORT": .short
            case "FULL": .full
            case "CANCELLED": .cancelled
            default: throw reply.unexpected
            }
        }
    }

    /// Says that the feeder of a batch lives; answers whether the batch is there.
    public func feederLives(_ id: BatchID) -> ScriptCall<Bool> {
        ScriptCall(StoreScripts.feeder, scriptKeys, [[UInt8](id.description)]) { reply throws(StoreError) in
            reply.status == "OK"
        }
    }

    /// Seals a batch: what was fed is all. Refused when the totals differ. Repeating it does no harm.
    public func seal(_ id: BatchID, operations: Int, photos: Int) -> ScriptCall<SealReply> {
        let arguments = [[UInt8](id.description), [UInt8](operations), [UInt8](photos)]
        return ScriptCall(StoreScripts.seal, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK": .sealed
            case "GONE": .gone
            case "DIFFERS": .differs(operations: try reply.int(1), photos: try reply.int(2))
            case "CANCELLED": .cancelled
            default: throw reply.unexpected
            }
        }
    }

    /// Opens a batch again whose list has grown, see `grow.lua`.
    /// - Parameters:
    ///   - id: the batch.
    ///   - fed: the operations, photos and digest of the feed that the list was compared with.
    ///   - last: the last operation as it is from now on; nil when it has as many photos as it may.
    public func grow(
        _ id: BatchID, fed: (operations: Int, photos: Int, digest: String),
        last: (photos: Int, entry: [UInt8], digest: String)?
    ) -> ScriptCall<GrowReply> {
        let arguments = [
            [UInt8](id.description), [UInt8](fed.operations), [UInt8](fed.photos), [UInt8](fed.digest),
            [UInt8](last?.photos ?? 0), last?.entry ?? [], [UInt8](last?.digest ?? ""),
        ]
        return ScriptCall(StoreScripts.grow, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK": .grown
            case "GONE": .gone
            case "CANCELLED": .cancelled
            case "DIFFERS": .differs
            case "OUTPUT": .outputTaken(by: try reply.batch(1))
            case "BUSY": .busy
            default: throw reply.unexpected
            }
        }
    }

    /// Claims operations, after it renewed what the worker holds.
    /// - Parameters:
    ///   - worker: who claims.
    ///   - number: grows with every claim of a worker; the same number again gets the same answer.
    ///   - operations: at most 16.
    ///   - photos: at most 4,000; one operation at least is handed out.
    ///   - lowest: the lowest priority that is taken.
    ///   - next: where an earlier claim said to go on, "" to begin.
    ///   - focus: a batch of which only operations in focus are taken; nil for operations of all batches.
    ///   - refusals: what has changed in what the worker refuses since its last claim.
    ///   - without: batches that this claim leaves out, at most ``RefusalChanges/limit``.
    ///   - held: what the worker holds, renewed before anything else.
    public func claim(
        worker: String, number: Int, operations: Int = 16, photos: Int = 4000, lowest: Priority = .veryLow,
        next: String = "", focus: BatchID? = nil, refusals: RefusalChanges = RefusalChanges(),
        without: [BatchID] = [], held: [HeldOperation] = []
    ) -> ScriptCall<ClaimReply> {
        var arguments: [[UInt8]] = [
            [UInt8](worker), [UInt8](number), [UInt8](operations), [UInt8](photos), [UInt8](lowest.rank),
            [UInt8](next), [UInt8](focus?.description ?? ""), refusals.replacesAll ? [49] : [48],
        ]
        for batches in [refusals.added, refusals.removed, without] {
            arguments += [[UInt8](batches.count)] + batches.map { [UInt8]($0.description) }
        }
        arguments += Self.renewals(held)
        return ScriptCall(StoreScripts.claim, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OLD": .old
            case "OK": .claimed(try Self.claimed(reply))
            default: throw reply.unexpected
            }
        }
    }

    /// Says that a worker lives, with its facts, and renews what it holds. With no worker it does only the
    /// housekeeping that every heartbeat does: recover the operations of dead workers, forget batches whose time has come.
    public func heartbeat(
        worker: String?, facts: [(field: String, value: String)] = [], held: [HeldOperation] = []
    ) -> ScriptCall<HeartbeatReply> {
        var arguments = [[UInt8](worker ?? ""), [UInt8](facts.count)]
        for (field, value) in facts { arguments += [[UInt8](field), [UInt8](value)] }
        arguments += Self.renewals(held)
        return ScriptCall(StoreScripts.heartbeat, scriptKeys, arguments) { reply throws(StoreError) in
            guard reply.status == "OK" else { throw reply.unexpected }
            return try Self.heartbeat(reply)
        }
    }

    /// Reports what became of an operation's photos. Repeating it does no harm.
    /// - Parameters:
    ///   - held: the operation, under the fence of its claim.
    ///   - worker: who holds it.
    ///   - letters: one a photo: `.` no news, `N` downloaded bytes thrown away, `D`, or a final letter.
    ///   - bytesIn: bytes downloaded of all photos that this claim has made final so far.
    ///   - bytesOut: bytes written of them.
    ///   - failures: photo index and JSON of those that failed.
    public func report(
        _ held: HeldOperation, worker: String, letters: [UInt8], bytesIn: Int, bytesOut: Int,
        failures: [(index: Int, json: [UInt8])] = []
    ) -> ScriptCall<ReportReply> {
        var arguments = Self.identity(held, worker) + [letters, [UInt8](bytesIn), [UInt8](bytesOut)]
        for (index, json) in failures { arguments += [[UInt8](index), json] }
        return ScriptCall(StoreScripts.report, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK":
                let letters = try reply.bytes(2)
                return .accepted(
                    ended: try reply.int(1) == 1, letters: letters.isEmpty ? nil : letters, version: try reply.int(3))
            case "CANCELLED": return .cancelled(letters: try reply.bytes(1))
            case "GONE": return .gone
            case "LOST": return .lost
            case "ENDED": return .ended(letters: try reply.bytes(1))
            default: throw reply.unexpected
            }
        }
    }

    /// Hands an operation back: queued again at no cost. Repeating it does no harm.
    /// - Parameters:
    ///   - held: the operation, under the fence of its claim.
    ///   - worker: who holds it.
    ///   - isRefused: the worker refuses the batch. No hint is published then: each of many workers may refuse it.
    public func handback(
        _ held: HeldOperation, worker: String, isRefused: Bool = false
    ) -> ScriptCall<HandbackReply> {
        let arguments = Self.identity(held, worker) + [isRefused ? [49] : [48]]
        return ScriptCall(StoreScripts.handback, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK": .queued
            case "GONE": .gone
            case "LOST": .lost
            case "ENDED": .ended(letters: try reply.bytes(1))
            case "CANCELLED": .cancelled(letters: try reply.bytes(1))
            default: throw reply.unexpected
            }
        }
    }

    /// Forgets a batch, one bounded step; call again while it answers `more`.
    /// - Parameters:
    ///   - id: the batch.
    ///   - unfinished: also one that is not finished; its workers drop what they hold.
    public func forget(_ id: BatchID, unfinished: Bool = false) -> ScriptCall<ForgetReply> {
        let arguments: [[UInt8]] = [[UInt8](id.description), unfinished ? [49] : [48]]
        return ScriptCall(StoreScripts.forget, scriptKeys, arguments) { reply throws(StoreError) in
            switch reply.status {
            case "OK": return .forgotten
            case "MORE": return .more
            case "GONE": return .gone
            case "UNFINISHED":
                guard let state = BatchState(rawValue: try reply.string(1)) else { throw reply.unexpected }
                return .unfinished(state)
            default: throw reply.unexpected
            }
        }
    }

    /// Makes every lease expired, for one who knows that no worker lives. Call again while it answers true.
    public func expireLeases() -> ScriptCall<Bool> {
        ScriptCall(StoreScripts.expire, scriptKeys, []) { reply throws(StoreError) in reply.status == "MORE" }
    }

    /// Takes a worker off the list of workers, once it has handed back everything.
    public func leave(worker: String) -> ScriptCall<Void> {
        ScriptCall(StoreScripts.leave, scriptKeys, [[UInt8](worker)]) { _ throws(StoreError) in }
    }

    private static func identity(_ held: HeldOperation, _ worker: String) -> [[UInt8]] {
        [[UInt8](worker), [UInt8](held.fence), [UInt8](held.batch.description), [UInt8](held.number)]
    }

    /// What a worker holds as renew.lua reads it: batch by batch.
    private static func renewals(_ held: [HeldOperation]) -> [[UInt8]] {
        let byBatch = Dictionary(grouping: held, by: \.batch)
        var arguments = [[UInt8](byBatch.count)]
        for (batch, operations) in byBatch {
            arguments += [[UInt8](batch.description), [UInt8](operations.count)]
            for operation in operations { arguments += [[UInt8](operation.number), [UInt8](operation.fence)] }
        }
        return arguments
    }

    private static func lost(_ reply: ScriptReply, _ position: Int) throws(StoreError) -> [HeldOperation] {
        let list = try reply.array(position)
        var lost: [HeldOperation] = []
        for at in stride(from: 0, to: list.count - 2, by: 3) {
            guard let batch = list[at].batch, let number = list[at + 1].operation, let fence = list[at + 2].number
            else { throw reply.unexpected }
            lost.append(HeldOperation(batch: batch, number: number, fence: fence))
        }
        return lost
    }

    private static func claimed(_ reply: ScriptReply) throws(StoreError) -> Claimed {
        let fence = try reply.int(1)
        guard let cluster = ClusterSteering(try reply.string(5)) else { throw reply.unexpected }
        var operations: [ClaimedOperation] = []
        var steering: [BatchID: Steering] = [:]
        var invalid: [String] = []
        var damaged: [BatchID: String] = [:]
        for element in reply.elements.dropFirst(8) {
            guard let list = element.array, list.count > 1, let name = list[0].string,
                let text = list[1].string, let holds = Steering(text)
            else { throw reply.unexpected }
            // No operation of such a batch is run. The other operations of the reply are valid.
            guard let batch = BatchID(name) else {
                invalid.append(name)
                continue
            }
            steering[batch] = holds
            for at in stride(from: 2, to: list.count - 3, by: 4) {
                guard let number = list[at].operation, let letters = list[at + 1].bytes,
                    let deaths = list[at + 2].number
                else { throw reply.unexpected }
                // The other operations of the reply are valid. The lease of this one expires.
                guard let entry = list[at + 3].bytes else {
                    damaged[batch] = "operation \(number) has no entry"
                    continue
                }
                let held = HeldOperation(batch: batch, number: number, fence: fence)
                operations.append(ClaimedOperation(held: held, letters: letters, deaths: deaths, entry: entry))
            }
        }
        return Claimed(
            operations: operations, lost: try lost(reply, 2), next: try reply.string(3), version: try reply.int(4),
            cluster: cluster, turn: try reply.int(6), refusals: try reply.int(7), steering: steering, invalid: invalid,
            damaged: damaged)
    }

    private static func heartbeat(_ reply: ScriptReply) throws(StoreError) -> HeartbeatReply {
        let texts = try reply.array(2)
        guard texts.count >= 2, let version = texts[0].number,
            let cluster = texts[1].string.flatMap(ClusterSteering.init)
        else { throw reply.unexpected }
        var steering: [BatchID: Steering] = [:]
        for at in stride(from: 2, to: texts.count - 1, by: 2) {
            guard let batch = texts[at].batch, let holds = texts[at + 1].string.flatMap(Steering.init)
            else { throw reply.unexpected }
            steering[batch] = holds
        }
        var letters: [HeartbeatReply.Letters] = []
        let lists = try reply.array(3)
        for at in stride(from: 0, to: lists.count - 2, by: 3) {
            guard let batch = lists[at].batch, let number = lists[at + 1].operation, let bytes = lists[at + 2].bytes
            else { throw reply.unexpected }
            letters.append(HeartbeatReply.Letters(batch: batch, number: number, letters: bytes))
        }
        var webhooks: [DueWebhook] = []
        let due = try reply.array(4)
        for at in stride(from: 0, to: due.count - 2, by: 3) {
            guard let member = due[at].string, let score = due[at + 1].number, let url = due[at + 2].string
            else { throw reply.unexpected }
            // One of a batch with no valid id is nobody's.
            if let webhook = DueWebhook(member: member, score: score, url: url) { webhooks.append(webhook) }
        }
        // Members with an invalid batch id or with numbers out of bounds are skipped: Darkroom did not write them.
        let left = try reply.array(7)
        var leftover: HeldOperation?
        if left.count == 3, let batch = left[0].batch, let number = left[1].operation, let fence = left[2].number {
            leftover = HeldOperation(batch: batch, number: number, fence: fence)
        }
        return HeartbeatReply(
            lost: try lost(reply, 1), version: version, cluster: cluster, steering: steering, letters: letters,
            webhooks: webhooks, hasMore: try reply.int(5) == 1, turn: try reply.int(6), leftover: leftover)
    }
}
