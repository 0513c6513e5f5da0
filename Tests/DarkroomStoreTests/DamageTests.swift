import DarkroomModel
import DarkroomRedis
import DarkroomTestSupport
import Testing

@testable import DarkroomStore

/// Batches with damaged keys in Redis. They are reported as damaged and do not affect other batches.
@Suite(.redisServer) struct DamageTests {
    /// The fields that the scripts of workers use in computations.
    static let fields = [
        "size", "photos", "operations", "operations.ended", "operations.kept", "executing", "lease", "count.downloaded",
        "count.filtered", "count.failed", "count.cancelled", "bytes.in", "bytes.out", "sealed",
    ]
    static let values = [
        "-9223372036854775808", "9223372036854775807", "99999999999999999999999999", "1e300", "-1e300", "nan", "-inf",
        "", "x",
        "-1", "1.5", "\u{1B}[2J",
    ]

    @Test(arguments: fields) func damagedNumberAffectsNoOtherBatch(_ field: String) throws {
        for value in Self.values { try checkThatOthersFinish(field, value) }
    }

    /// Damages a batch while a worker holds operations of it, and checks that a sound batch finishes.
    private func checkThatOthersFinish(_ field: String, _ value: String) throws {
        let test = try TestStore()
        let damaged = try test.submit("damaged", operations: 4)
        let held = try test.claim(operations: 2)
        #expect(held.count == 2)
        let sound = try test.submit("sound", operations: 2)
        try test.command("HSET", test.store.keys.batch(damaged), field, value)

        let facts = try #require(try test.store.facts(of: damaged))
        #expect(facts.damage.count == 1, "\(field) is \(value): \(facts.damage)")
        #expect(try test.store.facts(of: [damaged, sound]).count == 2)

        // Scripts that need the field treat the batch as removed. The batch can still be forgotten.
        let beat = try test.store.perform(test.store.heartbeat(worker: "worker", held: held.map(\.held)))
        let claimed = try test.claim()
        #expect(claimed.filter { $0.held.batch == sound }.count == 2, "\(field) is \(value)")
        let reply = try test.report(held[0].held, "FFF")
        if !beat.lost.isEmpty { #expect(reply == .gone || field != "size" && field != "photos") }
        _ = try test.store.perform(test.store.release(held[1].held, worker: "worker"))
        for operation in claimed where operation.held.batch == sound { try test.report(operation.held, "FFF") }
        try test.pass(seconds: 100)
        for _ in 1...3 { try test.heartbeat() }
        #expect(try test.store.facts(of: sound)?.state == .finished)
        while try test.store.perform(test.store.forget(damaged, unfinished: true)) == .more {}
        #expect(try test.store.facts(of: damaged) == nil)
    }

    @Test func missingNumberIsDamage() throws {
        let test = try TestStore()
        let id = try test.submit("batch", operations: 1)
        let key = test.store.keys.batch(id)
        try test.command("HDEL", key, "size")
        #expect(try test.store.facts(of: id)?.damage == ["size is not a number"])
        try test.command("UNLINK", key)
        try test.command("SET", key, "x")
        #expect(try test.store.facts(of: id)?.damage == ["its hash has another type"])
    }

    @Test(arguments: [("size", "size is \"\u{FFFD}\""), ("renditions", "its recipe: "), ("encoding", "its recipe: ")])
    func bytesThatAreNoTextAreDamage(field: String, damage: String) throws {
        let test = try TestStore()
        let id = try test.submit("batch", operations: 1)
        let key = test.store.keys.batch(id)
        let command = RedisCommand(arguments: [Array("HSET".utf8), Array(key.utf8), Array(field.utf8), [0xFF]])
        _ = try test.store.connection.call(command)
        let found = try test.store.facts(of: id)?.damage ?? []
        #expect(found.count == 1 && found.allSatisfy { $0.hasPrefix(damage) }, "\(found)")
    }

    @Test func damagedRetentionOrRoundDoesNotPreventTheEnd() throws {
        for (field, value) in [
            ("retain", "soon"), ("retain", "1e999"), ("round", "x"), ("round", "1e300"), ("round", ""),
        ] {
            let test = try TestStore()
            let damaged = try test.submit("damaged", operations: 1) { $0.webhook = "http://example.org" }
            let dependent = try test.submit("dependent", operations: 1, after: [damaged])
            try test.command("HSET", test.store.keys.batch(damaged), field, value)
            try test.develop()
            #expect(try test.store.facts(of: dependent)?.state == .finished, "\(field) is \(value)")
            try test.command("ZADD", test.store.keys.webhooks, "0", "no round")
            for _ in 1...3 { try test.heartbeat() }
            #expect(try test.store.perform(test.store.forget(damaged, unfinished: true)) == .forgotten)
            try test.heartbeat()
            #expect(try test.command("ZCARD", test.store.keys.webhooks) == .integer(0))
        }
    }

    @Test func damagedDependentAffectsNoOtherBatch() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1)
        let damaged = try test.submit("damaged", operations: 1, after: [first]) { $0.retain = nil }
        let sound = try test.submit("sound", operations: 1, after: [first])
        for (field, value) in [("size", "x"), ("focus.only", "1"), ("focus.first", "x"), ("retain", "x")] {
            try test.command("HSET", test.store.keys.batch(damaged), field, value)
        }
        try test.develop()
        for _ in 1...3 { try test.heartbeat() }
        try test.develop()
        #expect(try test.store.facts(of: sound)?.state == .finished)
    }

    @Test func doesNotSendDamagedControlsToWorkers() throws {
        let test = try TestStore()
        let id = try test.submit("batch", operations: 2)
        for (field, value) in [("focus.first", "1,2,3"), ("focus.last", "9223372036854775807"), ("priority", "huge")] {
            try test.command("HSET", test.store.keys.batch(id), field, value)
        }
        try test.command("HSET", test.store.keys.control, "downloads.limit", "9,9,9")
        try test.command("HSET", test.store.keys.control, "filtrations.limit", "-4")
        let other = try test.submit("other", operations: 1)
        let claim = test.store.claim(worker: "worker", number: 1)
        guard case .claimed(let claimed) = try test.store.perform(claim) else { throw TestFailure(description: "OLD") }
        #expect(claimed.operations.map(\.held.batch) == [other])
        #expect(claimed.cluster.downloads == nil && claimed.cluster.filtrations == nil)
        #expect(try test.store.clusterControls() == claimed.cluster)
        let damage = try #require(try test.store.facts(of: id)).damage
        #expect(damage.count == 3, "\(damage)")
        for field in ["focus.first", "focus.last", "priority"] {
            #expect(damage.contains { $0.hasPrefix(field) }, "\(damage)")
        }
    }

    @Test func workerKeyOfAnotherTypeAffectsNoOtherWorker() throws {
        let test = try TestStore()
        _ = try test.store.perform(test.store.heartbeat(worker: "sound", facts: [("host", "here")]))
        _ = try test.store.perform(test.store.heartbeat(worker: "damaged", facts: [("host", "here")]))
        let key = test.store.keys.worker("damaged")
        try test.command("DEL", key)
        try test.command("SET", key, "x")
        let workers = try test.store.workers()
        #expect(Set(workers.map(\.id)) == ["sound", "damaged"])
        #expect(workers.first { $0.id == "sound" }?.fields["host"] == "here")
        #expect(workers.first { $0.id == "damaged" }?.fields == [:])
    }

    @Test func removesLeasesOfUnknownOperations() throws {
        let test = try TestStore()
        let id = try test.submit("batch", operations: 2)
        for number in ["99999999999999999999", "7"] {
            try test.command("HSET", test.store.keys.executing(id), number, "worker 1 0 0")
            try test.command("ZADD", test.store.keys.leases, "-1", "\(id)/\(number)")
        }
        try test.heartbeat()
        #expect(try test.command("ZCARD", test.store.keys.leases) == .integer(0))
        #expect(try test.claim().count == 2)
    }

    /// The set of open batches is an index; a worker repairs it.
    @Test func setOfOpenBatchesMayHaveAnotherType() throws {
        let test = try TestStore()
        let first = try test.submit("first", operations: 1)
        try test.command("UNLINK", test.store.keys.open)
        try test.command("SET", test.store.keys.open, "x")
        let second = try test.submit("second", operations: 1)
        #expect(try test.store.openBatchIDs().isEmpty)
        try test.develop()
        #expect(try test.store.facts(of: [first, second]).map(\.state) == [.finished, .finished])
        let third = try test.submit("third", operations: 1)
        while try test.store.repair(steps: 10).hasMore {}
        for _ in 1...5 { _ = try test.store.repair(steps: 10) }
        #expect(try test.store.openBatchIDs() == [third])
        try test.command("ZADD", test.store.keys.open, "1", "gone")
        _ = try test.store.repair(steps: 10)
        #expect(try test.store.openBatchIDs() == [third])
    }

    /// Replaces a key of a batch with a key of another type, while a worker holds an operation and another batch waits.
    @Test(arguments: [
        "", ":states", ":operations", ":queue", ":executing", ":lease.expiries", ":failures", ":reasons",
        ":dependencies",
        ":dependents",
    ]) func keyOfAnotherTypeAffectsNoOtherBatch(_ suffix: String) throws {
        let test = try TestStore()
        let damaged = try test.submit("damaged", operations: 4) { $0.webhook = "http://example.org" }
        let held = try test.claim(operations: 1)
        _ = try test.submit("dependent", operations: 1, after: [damaged])
        let key = test.store.keys.batch(damaged) + suffix
        try test.command("UNLINK", key)
        if suffix == ":states" { try test.command("HSET", key, "x", "y") } else { try test.command("SET", key, "x") }
        for place in ["expiring", "releases", "webhooks"] {
            try test.command("ZADD", test.store.keys.prefix + place, "0", place == "webhooks" ? "damaged 1" : "damaged")
        }
        _ = try test.store.dueWebhooks(atMost: 10)
        let sound = try test.submit("sound", operations: 2)
        #expect(try test.store.facts(of: [damaged, sound]).map(\.id).contains(sound))
        if let facts = try test.store.facts(of: damaged) {
            let problems = try test.store.problems(of: [facts], now: try test.store.time()).of(facts)
            #expect(problems.first?.code == .damaged, "\(suffix): \(problems)")
        }
        // A claim, a heartbeat, an expired lease, a release and the expiry of the batch read the key.
        try test.pass(seconds: 100)
        for _ in 1...3 { _ = try test.store.perform(test.store.heartbeat(worker: "worker", held: held.map(\.held))) }
        try test.develop()
        #expect(try test.store.facts(of: sound)?.state == .finished)
        while try test.store.perform(test.store.forget(damaged, unfinished: true)) == .more {}
        #expect(try test.store.facts(of: damaged) == nil)
        #expect(try test.command("EXISTS", key) == .integer(0))
    }

    /// An unreadable part of an operation counts as damage to this operation or its batch.
    @Test func unreadableOperationAffectsNoOtherOperation() throws {
        let numbers = ["99999999999", "0", "-1", "1.5", "abc", "5"]
        let changes =
            [
                ["HDEL", ":operations", "1"], ["HSET", ":lease.expiries", "1", "9223372036854775807"],
                ["HSET", ":lease.expiries", "1", "-5"], ["HSET", ":lease.expiries", "1", "nan"],
            ]
            + numbers.map { ["ZADD", ":queue", "0", $0] }
        for change in changes {
            let test = try TestStore()
            let damaged = try test.submit("damaged", operations: 4)
            let sound = try test.submit("sound", operations: 2)
            let words = [change[0], test.store.keys.batch(damaged) + change[1]] + Array(change.dropFirst(2))
            _ = try test.store.connection.call(.init(arguments: words.map { Array($0.utf8) }))
            let reply = try test.store.perform(test.store.claim(worker: "worker", number: 1))
            guard case .claimed(let claimed) = reply else { throw TestFailure(description: "OLD") }
            #expect(claimed.operations.filter { $0.held.batch == sound }.count == 2, "\(change)")
            let numbers = claimed.operations.filter { $0.held.batch == damaged }.map(\.held.number)
            #expect(Set(numbers).isSubset(of: [1, 2, 3, 4]), "\(change): \(numbers)")
            #expect(claimed.damaged == (change[0] == "HDEL" ? [damaged: "operation 1 has no entry"] : [:]), "\(change)")
        }
    }

    @Test func operationNumberAboveTheMaximumAffectsNoOtherOperation() throws {
        let test = try TestStore()
        let damaged = try test.submit("damaged", operations: 2)
        let sound = try test.submit("sound", operations: 2)
        try test.command("HSET", test.store.keys.batch(damaged), "operations", "9007199254740992")
        try test.command("ZADD", test.store.keys.queue(damaged), "0", "536870913")
        #expect(try test.claim().filter { $0.held.batch == sound }.count == 2)
    }

    @Test func unreadableBatchIdAffectsNoOtherBatch() throws {
        let test = try TestStore()
        let sound = try test.submit("sound", operations: 2)
        let unreadable: [UInt8] = Array(test.store.keys.prefix.utf8) + Array("batch:".utf8) + [0xff]
        for suffix in ["", ":queue", ":states", ":operations"] {
            let source = Array((test.store.keys.batch(sound) + suffix).utf8)
            let target = unreadable + Array(suffix.utf8)
            _ = try test.store.connection.call(.init(arguments: [Array("COPY".utf8), source, target]))
        }
        let queue = ["ZADD", test.store.keys.ready(.normal), "0"]
        _ = try test.store.connection.call(.init(arguments: queue.map { Array($0.utf8) } + [[0xff]]))
        #expect(try test.claim().map(\.held.batch) == [sound, sound])
    }

    @Test func damagedWebhooksAffectNoOtherWebhook() throws {
        let test = try TestStore()
        for name in ["text", "time", "sound"] {
            let id = try test.submit(name, operations: 1) { $0.webhook = "http://example.org" }
            if name == "text" {
                let url: [UInt8] = [0xff]
                let words = ["HSET", test.store.keys.batch(id), "webhook"].map { Array($0.utf8) }
                _ = try test.store.connection.call(.init(arguments: words + [url]))
            }
            try test.develop()
            if name == "time" { try test.command("ZADD", test.store.keys.webhooks, "-5", "\(id) 1") }
        }
        let reply = try test.store.perform(test.store.heartbeat(worker: nil))
        #expect(reply.webhooks.map(\.batch) == ["sound"])
    }

    /// The answer to the last claim, which Redis keeps for a repetition of the claim.
    @Test(arguments: [("x", "1 batch 1"), ("nan", ""), ("2", "x y z"), ("2", "1 batch")])
    func damagedAnswerOfAClaimDoesNotPreventClaims(number: String, answer: String) throws {
        let test = try TestStore()
        let id = try test.submit("batch", operations: 2)
        try test.command(
            "HSET", test.store.keys.worker("worker"), "claim.number", number, "claim.answer", answer)
        for number in 2...3 {
            _ = try test.store.perform(test.store.claim(worker: "worker", number: number))
        }
        #expect(try test.command("HLEN", test.store.keys.executing(id)) == .integer(2))
    }

    /// Damaged counters of the cluster.
    @Test(arguments: [
        "claims", "version", "turn", "lease.clock", "retention.clock", "seen", "dependencies", "taken",
        "notified.normal",
    ]) func aDamagedCounterIsPutRight(_ field: String) throws {
        for value in Self.values + ["9007199254740993", "100000000000000000000"] {
            let test = try TestStore()
            let id = try test.submit("batch", operations: 2) { $0.output = "/photos" }
            try test.command("HSET", test.store.keys.control, field, value)
            if field == "notified.normal" {
                try test.command("HSET", test.store.keys.control, "notified.operations.normal", value)
            }
            for number in 1...2 {
                let claimed = try test.claim(operations: 1)
                #expect(claimed.map(\.held.number) == [number], "\(field) is \(value)")
                #expect(claimed.allSatisfy { StoredBounds.numbers.contains($0.held.fencingToken) })
                try test.report(claimed[0].held, "FFF")
            }
            #expect(try test.store.facts(of: id)?.state == .finished)
            _ = try test.store.perform(test.store.suspend(nil, .everything, true))
            var options = BatchOptions()
            options.output = "/photos"
            #expect(try test.store.perform(test.store.submit("next", options, overwrite: true)).isSubmitted)
            try test.heartbeat("worker")
            _ = try test.state()
        }
    }

    @Test(arguments: ["x", "-5", "nan", "1e300", "2.5", "99999999999999999999"])
    func damagedNumberOfLeaseExpiriesDoesNotAffectOtherCounts(_ leaseExpiries: String) throws {
        let test = try TestStore()
        let id = try test.submit("batch", operations: 1)
        let key = test.store.keys.batch(id) + ":lease.expiries"
        try test.report(test.claim()[0].held, "F..")
        try test.command("HSET", key, "1", leaseExpiries)
        try test.pass(seconds: 100)
        for _ in 1...2 { try test.heartbeat() }
        let again = try test.claim()
        #expect(again.map(\.held.number) == [1])
        try test.command("HSET", key, "1", leaseExpiries)
        try test.report(again[0].held, "FF.")
        try test.report(again[0].held, "FFF")
        let facts = try #require(try test.store.facts(of: id))
        #expect(facts.state == .finished && facts.counts.filtered == 3)
    }

    @Test func forgettingABatchOfAnotherTypeFreesItsFolder() throws {
        let test = try TestStore()
        let damaged = try test.submit("damaged", operations: 1) { $0.output = "/photos" }
        try test.command("UNLINK", test.store.keys.batch(damaged))
        try test.command("SET", test.store.keys.batch(damaged), "x")
        while try test.store.perform(test.store.forget(damaged, unfinished: true)) == .more {}
        var options = BatchOptions()
        options.output = "/photos"
        #expect(try test.store.perform(test.store.submit("next", options)).isSubmitted)
    }

    @Test func tooLongTextIsDamage() throws {
        let test = try TestStore()
        let id = try test.submit("batch", operations: 1)
        let most = String(repeating: "x", count: StoredBounds.textBytes)
        for field in ["name", "output", "filters", "cancelled.reason", "feed.digest"] {
            try test.command("HSET", test.store.keys.batch(id), field, most)
            #expect(try test.store.facts(of: id)?.damage == [])
            try test.command("HSET", test.store.keys.batch(id), field, most + "x")
            let facts = try #require(try test.store.facts(of: id))
            #expect(facts.damage == ["\(field) has \(StoredBounds.textBytes + 1) bytes"])
            #expect(facts.options.name.isEmpty && facts.cancelledReason.isEmpty && facts.feedDigest.utf8.count < 100)
            try test.command("HDEL", test.store.keys.batch(id), field)
        }
    }

    @Test func factsOfASoundBatchReportNoDamage() throws {
        let test = try TestStore()
        let id = try test.submit("batch", operations: 2) { $0.retain = nil }
        _ = try test.store.perform(test.store.focus(id, BatchControls.Focus(1...9_999_999_999)))
        let claimed = try test.claim(operations: 1)
        try test.report(claimed[0].held, "Fag")
        #expect(try test.store.facts(of: id)?.damage == [])
        try test.develop()
        #expect(try test.store.facts(of: id)?.damage == [])
    }
}
