import Darkroom
import DarkroomTestSupport
import FuzzSupport
import Testing

@testable import DarkroomCommand
@testable import DarkroomStore

/// Damaged data of batches and workers in Redis. Every command shows the damage, and no command crashes.
@Suite(.redisServer) struct DamageTests {
    private static let urls = ["http://a.example/1", "http://a.example/2"]

    @Test(arguments: [
        ("photos", "-9223372036854775808"), ("size", "9223372036854775807"), ("state", "asleep"),
        ("encoding", "quality=99999999999"), ("renditions", "../a = none"), ("lease", "1"), ("lease", "5999"),
        ("lease", "86400001"),
        ("lease", "9007199254740992"),
        ("submitted", "-1"), ("focus.first", "\u{1B}]0;x\u{7}"),
    ]) func batchesStatusAndWaitShowADamagedBatch(_ field: String, _ value: String) throws {
        let queue = try Queue()
        let damaged = try queue.submit(Self.urls)
        let sound = try queue.submit(Self.urls)
        _ = try queue.store.connection.call(.init("HSET", queue.store.keys.batch(damaged), field, value))

        let batches = try queue.run("batches")
        #expect(batches.status == 0)
        #expect(batches.lines[0].hasPrefix("\(damaged)\tdamaged\t") && batches.lines[1].hasPrefix("\(sound)\tready\t"))
        let json = try #require(try queue.run("batches", "--json").json() as? [[String: Any]])
        #expect((json[0]["damage"] as? [String])?.count == 1 && json[1]["damage"] == nil)

        let status = try queue.run("status", "\(damaged)")
        #expect(status.status == 0 && status.lines.contains("state\tdamaged"))
        #expect(status.standardError.contains("it is damaged in Redis, so no worker runs it"))
        #expect(status.standardError.contains("darkroom forget \(damaged) --force"))
        #expect(!status.standardError.contains("\u{1B}") && !status.standardOutput.contains("\u{1B}"))
        let cluster = try queue.run("status")
        #expect(cluster.status == 0 && cluster.standardError.contains("batch \(damaged)"))

        let wait = try queue.run("wait", "\(damaged)", "--timeout", "60s")
        #expect(wait.status == 1 && wait.standardError.contains("it is damaged in Redis"), "\(wait)")
        for command in ["operations", "photos"] {
            let outcomes = [
                try queue.run(command, "\(damaged)"), try queue.run(command, "\(damaged)", "--json"),
            ]
            for listed in outcomes {
                #expect(listed.status == 1 && listed.standardOutput.isEmpty, "\(listed)")
                #expect(listed.standardError.contains("is damaged in Redis ("), "\(listed)")
                #expect(listed.standardError.contains("darkroom forget \(damaged) --force"), "\(listed)")
                #expect(!listed.standardError.contains("\u{1B}"))
            }
        }
        #expect(try queue.run("forget", "\(damaged)", "--force").status == 0)
    }

    /// Counters follow from the state codes, so a command that finds a damaged counter repairs the batch.
    @Test(arguments: ["count.filtered", "executing"]) func damagedCounterIsRepaired(_ field: String) throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        for value in ["5000000", "-3"] {
            _ = try queue.store.connection.call(.init("HSET", queue.store.keys.batch(id), field, value))
            let status = try queue.run("status")
            #expect(status.status == 0 && status.standardError.contains("batch \(id): "), "\(status)")
            #expect(try queue.run("batches").lines[0].hasPrefix("\(id)\tready\t"), "\(field) is \(value)")
            #expect(try queue.store.facts(of: id)?.damage == [])
        }
    }

    @Test func fuzzedFactsAreShown() throws {
        let run = FuzzRun("facts of batches and workers", count: 1000)
        print(run)
        var fields = Dictionary(uniqueKeysWithValues: BatchOptions().fields.map { ($0.field, $0.value) })
        fields.merge([
            "state": "executing", "photos": "10", "operations": "2", "operations.ended": "1", "operations.kept": "0",
            "executing": "1", "round": "1",
            "count.downloaded": "1", "count.filtered": "3", "count.failed": "2", "count.cancelled": "1", "sealed": "1",
            "submitted": "1795252101000", "started": "1795252101000", "finished": "", "feeder.seen": "1795252101000",
            "bytes.in": "5", "bytes.out": "6", "focus.first": "1", "focus.last": "5", "focus.only": "1",
            "feed.digest": "ab",
            "flag.cancelled": "", "flag.suspended": "", "spent": "0",
        ]) { $1 }
        let names = fields.keys.sorted()
        let values = [
            "-9223372036854775808", "9223372036854775807", "9007199254740992", "536870912", "-1", "0", "1", "", "x",
            "1e9", "finished",
            "waiting", "\u{1B}[31m\u{202E}", String(repeating: "9", count: 300_000),
        ]
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var generator = SeededGenerator(seed: seed)
            var damaged = fields
            for _ in 0..<generator.number(in: 1..<6) { damaged[generator.pick(names)] = generator.pick(values) }
            if generator.chance(20) { damaged[generator.pick(names)] = nil }
            let reasons = [UInt8(ascii: "g"): generator.pick(values), 0: "1", 0xFF: generator.pick(values)]
            guard let batch = BatchFacts(id: WatchScene.holidays, fields: damaged, reasons: reasons) else { continue }
            let workerFields = [
                "downloads", "downloading", "filtrations", "filtering", "rate", "started", "bytes.held", "photos",
            ]
            let worker = WorkerFacts(
                id: "w", seen: generator.pick([0, WatchScene.now]),
                fields: Dictionary(uniqueKeysWithValues: workerFields.map { ($0, generator.pick(values)) }))
            try show(batch, Array(repeating: worker, count: 20))
        }
    }

    /// Renders all outputs of the commands for a batch and its workers.
    private func show(_ batch: BatchFacts, _ workers: [WorkerFacts]) throws {
        let now = WatchScene.now
        for worker in workers.prefix(1) { _ = JSON(worker, now: now).text }
        _ = (
            batch.summary(now: now, problems: []), batch.stateText(now: now, problems: []), batch.controlsText,
            BatchSummary(batch, now: now).lines
        )
        let problems = BatchProblems(workers: workers, cluster: ClusterControls(), now: now, known: [batch])
        let hosts = problems.hosts(of: batch.id)
        _ = BatchSheet(batch, now: now, problems: problems.of(batch), waiting: hosts.waitText, waited: nil).sheet
        _ = JSON(batch, now: now, problems: problems.of(batch)).text
        let cluster = try ClusterStatus(
            location: RedisLocation("redis://127.0.0.1"), batches: [batch, batch], finished: 0, workers: workers,
            controls: ClusterControls(),
            problems: problems, now: now)
        _ = cluster.json().text
        for watched in [batch.id, nil] {
            var model = WatchModel(redis: "redis", namespace: "darkroom", watched: watched, hasKeys: true)
            model.take(WatchSnapshot(now: now, batches: [batch], workers: workers))
            _ = model.lines(width: 100, height: 30)
            _ = model.finalLines(width: 100)
        }
    }

    @Test func fuzzedEventsAreParsedOrRejected() {
        let run = FuzzRun("events", count: 20_000)
        print(run)
        let samples = [
            #"{"event":"photos","time":1795252101000,"batch":"b","worker":"w","photos":{"12":"F","13":"g"},"dropped":7}"#,
            #"{"event":"photos","time":1,"batch":"b","worker":"w","photos":{"10000000000":"F"}}"#,
            #"{"event":"photos","time":1,"batch":"b","worker":"w","photos":{"-1":"F"}}"#,
            #"{"event":"focus","time":1,"batch":"b","first":40,"last":60,"only":true}"#,
            #"{"event":"claimed","time":1,"batch":"b","operations":[3,4,17],"worker":"w-1"}"#,
            #"{"event":"completion","time":1,"round":2,"cancelled":true,"photos":10,"filtered":6,"failed":1,"cancelledPhotos":3}"#,
            #"{"event":"limits","time":1,"downloads":9223372036854775807,"filtrations":-9223372036854775808}"#,
        ].map { Array($0.utf8) }
        for seed in run.seed..<run.seed + UInt64(run.count) {
            var generator = SeededGenerator(seed: seed)
            let sample = generator.pick(samples)
            var mutator = ByteMutator(generator)
            guard let event = BatchEvent(json: mutator.mutate(sample, with: generator.pick(samples))) else { continue }
            #expect(StoredBounds.numbers.contains(event.time))
            switch event.kind {
            case .photos(let states, _, let dropped):
                #expect(states.keys.allSatisfy(StoredBounds.indexes.contains) && dropped >= 0)
            case .focus(let focus?): _ = focus.photos.count
            case .limits(let downloads, let filtrations): #expect((downloads ?? 0) >= 0 && (filtrations ?? 0) >= 0)
            default: break
            }
        }
    }
}
