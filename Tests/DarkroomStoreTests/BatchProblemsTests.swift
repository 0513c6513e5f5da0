import DarkroomModel
import Foundation
import Testing

@testable import DarkroomStore

/// Tests the problems of a batch that clients derive from facts about the batches, the workers and the cluster.
@Suite struct BatchProblemsTests {
    static let now = 1_795_252_101_000
    static let first = BatchID("20261121-090501123-7f3a")
    static let second = BatchID("20261121-090501999-0001")
    static let third = BatchID("20261121-090502000-0002")

    func batch(_ id: BatchID, _ fields: [String: String] = [:], after: [BatchID] = []) throws -> BatchFacts {
        let numbers = [
            "round", "operations.ended", "operations.kept", "executing", "count.downloaded", "count.filtered",
            "count.failed", "count.cancelled", "bytes.in", "bytes.out", "submitted",
        ]
        let zeros = Dictionary(uniqueKeysWithValues: numbers.map { ($0, "0") })
        let common = [
            "state": after.isEmpty ? "ready" : "waiting", "sealed": "1", "photos": "100", "operations": "2",
            "feeder.seen": "\(Self.now)", "size": "50", "lease": "15000",
        ]
        let all = zeros.merging(common) { $1 }.merging(fields) { $1 }
        var facts = try #require(BatchFacts(id: id, fields: all, reasons: [:]))
        facts.waitsFor = after
        return facts
    }

    func problems(
        _ batches: [BatchFacts], refused: String? = "", cluster: String = ",,"
    ) throws -> BatchProblems {
        let workers = refused.map { [WorkerFacts(id: "w", seen: Self.now - 1000, fields: ["refused": $0])] } ?? []
        return BatchProblems(
            workers: workers, cluster: try #require(ClusterControls(cluster)), now: Self.now, known: batches)
    }

    @Test func reportsEverySuspension() throws {
        let cases: [(fields: [String: String], cluster: String, codes: [BatchProblem.Code], remedy: Remedy?)] = [
            (["flag.suspended": "1"], ",,", [.suspended], .resume(Self.first, .everything)),
            (
                ["flag.downloads.suspended": "1"], ",,", [.downloadsSuspended],
                .resume(Self.first, .downloads)
            ),
            (
                ["flag.filtrations.suspended": "1"], ",,", [.filtrationsSuspended],
                .resume(Self.first, .filtrations)
            ),
            ([:], "s,,", [.clusterSuspended], .resume(nil, .everything)),
            (
                [:], "df,,", [.clusterDownloadsSuspended, .clusterFiltrationsSuspended],
                .resume(nil, .downloads)
            ),
            (["focus.first": "4", "focus.last": "6", "focus.only": "1"], ",,", [.focusOnly], .clearFocus(Self.first)),
            ([:], ",,", [], nil), (["flag.suspended": "1", "state": "finished"], ",,", [], nil),
        ]
        for (fields, cluster, codes, remedy) in cases {
            let batch = try batch(Self.first, fields)
            let found = try problems([batch], cluster: cluster).of(batch)
            #expect(found.map(\.code) == codes)
            #expect(found.first?.remedies.first == remedy, "\(found)")
        }
    }

    /// Whoever may submit batches may also make them wait for each other.
    @Test func longChainOfWaitingBatchesIsHarmless() throws {
        let ids = try (0..<20_000).map { try #require(BatchID("b\($0)" as String)) }
        var chain = try ids.indices.map { try batch(ids[$0], after: $0 == 0 ? [] : [ids[$0 - 1]]) }
        chain[0].waitsFor = [ids[19_999]]
        #expect(try problems(chain).of(chain[19_999]).map(\.code) == [.waiting])
    }

    /// A worker publishes reasons for a limited number of refusals, but Redis stores the list of all refused batches.
    @Test func reportsARefusalWithoutAReason() throws {
        let batch = try batch(Self.first)
        var worker = WorkerFacts(id: "w", seen: Self.now - 1000, fields: ["refused": "\(Self.second): no room"])
        worker.refusedToo = [Self.first]
        let problems = BatchProblems(workers: [worker], cluster: ClusterControls(), now: Self.now, known: [])
        #expect(problems.of(batch).map(\.code) == [.refused])
        // Another worker with the same facts that does not refuse this batch.
        var taker = WorkerFacts(id: "v", seen: worker.seen, fields: worker.fields)
        taker.refusedToo = [Self.second]
        let taken = BatchProblems(workers: [worker, taker], cluster: ClusterControls(), now: Self.now, known: [])
        #expect(taken.of(batch).isEmpty)
    }

    @Test(arguments: [
        (Refusal.Code.outputNotAllowed, BatchProblem.Code.optionMissing, [Remedy.allowOutput]),
        (.filesNotAllowed, .optionMissing, [.allowFiles]),
        (.folderMissing, .folderMissing, [.advice("mount this folder for a worker")]),
        (.diskFull, .diskFull, [.advice("free some space; the batch then continues by itself")]),
        (.folderTaken, .folderTaken, [.cancel(first), .takeOutputBack(first)]),
        (
            .folderLocked, .refused,
            [.advice("find the process with \"fuser -v\" and end it; the batch then goes on by itself")]
        ),
        (.other, .refused, [.startAcceptingWorker]),
    ])
    func eachRefusalHasACodeAndRemedies(
        refusal: Refusal.Code, code: BatchProblem.Code, remedies: [Remedy]
    ) throws {
        let batch = try batch(Self.first)
        let text = WorkerFacts.text(of: [Self.first: Refusal(refusal, "/a: no; room")])
        let found = try #require(try problems([batch], refused: text).of(batch).first)
        #expect(found.code == code && found.remedies == remedies)
        #expect(found.text == "no running worker takes it: 1 worker refused it: /a: no; room")
    }

    @Test func refusalsOfOtherVersionsHaveNoCode() throws {
        let batch = try batch(Self.first)
        for reason in ["no such filter", "[disk-full]", "[later-code] no such filter", "[] x", "[[disk-full] x"] {
            let found = try problems([batch], refused: "\(Self.first): \(reason)").of(batch)
            #expect(found.map(\.code) == [.refused])
            #expect(found.first?.text.hasSuffix(": \(reason)") == true, "\(found)")
        }
        #expect(try problems([batch], refused: nil).of(batch).map(\.code) == [.noWorker])
        #expect(try problems([batch], refused: "\(Self.second): no such filter").of(batch).isEmpty)
    }

    @Test func reportsASilentFeeder() throws {
        let batch = try batch(Self.first, ["sealed": "0", "feeder.seen": "\(Self.now - 40_000)"])
        #expect(try problems([batch]).of(batch).map(\.code) == [.feederSilent])
    }

    @Test func reportsADependencyThatCannotFinish() throws {
        let stuck = try batch(Self.first, ["flag.suspended": "1"])
        let middle = try batch(Self.second, after: [Self.first])
        let last = try batch(Self.third, after: [Self.second])
        let found = try problems([stuck, middle, last]).of(last)
        #expect(found.map(\.code) == [.dependencyStuck])
        #expect(found.first?.text == "it waits for \(Self.second), which makes no progress: it is suspended")
        #expect(found.first?.remedies == [.resume(Self.first, .everything)])
        // A dependency that makes progress is not reported as stuck.
        let going = try batch(Self.first)
        #expect(try problems([going, middle]).of(middle).map(\.code) == [.waiting])
        // A list of all batches contains only the problem of the suspended batch, not of the batches that wait for it.
        #expect(try problems([stuck, middle, last]).of([stuck, middle, last]).map(\.batch) == [Self.first])
    }

    // MARK: Stalls

    /// A running worker that publishes which photos run and wait.
    func worker(_ running: String = "", waiting: String = "", outputs: String = "") -> WorkerFacts {
        WorkerFacts(
            id: "w", seen: Self.now - 1000,
            fields: ["refused": "", "running": running, "waiting": waiting, "outputs.under": outputs])
    }

    func problems(_ workers: [WorkerFacts], _ batches: [BatchFacts]) -> BatchProblems {
        BatchProblems(workers: workers, cluster: ClusterControls(), now: Self.now, known: batches)
    }

    @Test func reportsABatchThatWaitsForAHost() throws {
        let (batch, other) = (try batch(Self.first, ["state": "executing", "executing": "2"]), try batch(Self.second))
        let waits = worker("\(Self.second):0-3", waiting: "\(Self.first) 40 h.example \(Self.second)")
        let found = try #require(problems([waits], [batch, other]).of(batch).first)
        #expect(found.code == .waitsForHost)
        #expect(
            found.text
                == "no photo of it runs: 40 photos wait for connections to h.example, which batch \(Self.second) uses")
        #expect(found.remedies.contains(.prioritize(Self.first, .high)))
        #expect(batch.shownState(now: Self.now, problems: [found]) == .ready)
        // Batches take turns: a photo has run some seconds ago.
        let ran = try self.batch(Self.first, ["state": "executing", "pace": "\(Self.now - 9000) 0"])
        #expect(problems([waits], [ran, other]).of(ran).isEmpty)
        // Another worker runs photos of the batch.
        #expect(problems([waits, worker("\(Self.first):7")], [batch, other]).of(batch).isEmpty)
        // A worker of an earlier version may run photos of the batch.
        let older = WorkerFacts(id: "o", seen: Self.now, fields: ["refused": ""])
        #expect(problems([waits, older], [batch, other]).of(batch).isEmpty)
        let retries = worker(waiting: "\(Self.first) 1 h.example -")
        #expect(
            problems([retries], [batch]).of(batch).first?.text.contains("1 photo waits for the next attempt") == true)
    }

    @Test func reportsTheStateOfTheHostForWhichABatchWaits() throws {
        let batch = try batch(Self.first, ["state": "executing", "executing": "2"])
        func found(_ waiting: String, _ hosts: String) throws -> BatchProblem {
            let ids = "\(Self.first) \(Self.second)"
            let fields = ["refused": "", "running": "", "waiting": waiting, "hosts": "\(ids);\(hosts)"]
            let worker = WorkerFacts(id: "w", seen: Self.now - 1000, fields: fields)
            return try #require(problems([worker], [batch]).of(batch).first)
        }
        let down = "cdn.example down 39000 9000 0 1 - - - - 0:212:0: 1:1000:0:"
        let one = try found("\(Self.first) 212 cdn.example -", down)
        #expect(one.code == .waitsForHost)
        #expect(one.text == "it waits for cdn.example: down for 40 s, 212 photos, next try in 8 s")
        #expect(RemedyWording.neutral.text(one.remedies).contains("patience"))
        // The URLs of the list name another host, which redirects.
        #expect(try found("\(Self.first) 212 www.example -", down).text.hasPrefix("it waits for cdn.example: "))
        let two = try found("\(Self.first) 240 www.example -", "\(down);b.example paused 0 500 0 1 - - - - 0:30:0:")
        #expect(two.text == "it waits for cdn.example and 1 other host: down for 40 s, 242 photos, next try in 8 s")
        let paused = try found("\(Self.first) 30 b.example -", "b.example paused 0 500 0 1 - 2 - - 0:30:0:")
        #expect(paused.text == "it waits for b.example: paused, 30 photos, next try now")
        #expect(paused.remedies.last == .changeRate)
        // Most photos wait for another host, which answers.
        let other = try found("\(Self.first) 900 d.example -", "\(down);d.example up 0 - 4 4 - - - - 0:688:0:")
        #expect(other.text.hasPrefix("no photo of it runs: 900 photos wait for the next attempt"))
        // Hosts of other batches do not matter.
        let foreign = try found("\(Self.first) 3 d.example -", "cdn.example down 39000 9000 0 1 - - - - 1:1000:0:")
        #expect(foreign.text.hasPrefix("no photo of it runs: 3 photos wait"))
    }

    @Test func reportsABatchThatWaitsForWorkers() throws {
        let old = ["submitted": "\(Self.now - 60_000)"]
        let (batch, other) = (try batch(Self.first, old), try batch(Self.second, ["priority": "high"]))
        let busy = [worker("\(Self.second):0-3")]
        let found = try #require(problems(busy, [batch, other]).of(batch).first)
        #expect(found.code == .waitsForWorkers && found.text.contains("the workers run batch \(Self.second)"))
        #expect(found.remedies.contains(.prioritize(Self.first, .veryHigh)))
        #expect(problems(busy, [batch, other]).of(other).isEmpty)
        // The turn of the batch may come at once.
        let new = try self.batch(Self.first, ["submitted": "\(Self.now - 3000)"])
        #expect(problems(busy, [new, other]).of(new).isEmpty)
        #expect(problems([worker()], [batch]).of(batch).isEmpty, "no worker is busy")
    }

    @Test func reportsABatchOfWhichAllOperationsWaitForTheirNextAttempt() throws {
        var batch = try batch(Self.first, ["submitted": "\(Self.now - 60_000)"])
        let queued = batch.operations - batch.operationsEnded - batch.executing
        let busy = [worker("\(Self.second):0-3")]
        batch.deferral = Deferral(operations: queued, due: Self.now + 14_000)
        let found = try #require(problems(busy, [batch]).of(batch).first)
        #expect(found.code == .waitsForHost)
        #expect(found.text.hasSuffix("for the next attempt to download, in 14.0 s"))
        batch.deferral = Deferral(operations: queued - 1, due: Self.now + 14_000)
        #expect(problems(busy, [batch]).of(batch).first?.code == .waitsForWorkers)
    }

    /// Before a worker claims an operation of the batch, it has not refused the batch.
    @Test func reportsAFolderToWhichNoWorkerMayWrite() throws {
        let batch = try batch(Self.first, ["output": "/srv/photos/a"])
        for (folders, isAllowed) in [
            ("", true), ("/srv/photos", true), ("/mnt\n/srv", true), ("/srv/photo", false), ("/mnt\n/data", false),
        ] {
            let found = problems([worker(outputs: folders)], [batch]).of(batch)
            #expect(found.map(\.code) == (isAllowed ? [] : [.optionMissing]), "\(folders)")
        }
        let found = problems([worker(outputs: "/mnt"), worker(outputs: "/srv")], [batch]).of(batch)
        #expect(found.isEmpty, "another worker may write there")
    }

    @Test func waitingBatchReportsThatThereIsNoWorker() throws {
        let (first, waiting) = (try batch(Self.first), try batch(Self.second, after: [Self.first]))
        #expect(problems([], [first, waiting]).of(waiting).map(\.code) == [.waiting, .noWorker])
        #expect(problems([worker()], [first, waiting]).of(waiting).map(\.code) == [.waiting])
        // All operations are claimed by a worker that was lost.
        let claimed = try batch(
            Self.first,
            ["state": "executing", "executing": "2", "started": "1", "pace": "\(Self.now - 60_000) 0"])
        #expect(problems([], [claimed]).of(claimed).map(\.code) == [.noWorker])
    }

    @Test func factsOfAWorkerAreBoundedAndCanBeRead() throws {
        let many = (0..<1000).map { (batch: BatchID(String(format: "20261121-090501123-%04x", $0)), photos: [$0]) }
        let batches = many.compactMap { entry in entry.batch.map { (batch: $0, photos: entry.photos) } }
        let text = WorkerFacts.text(ofRunning: batches)
        #expect(text.utf8.count <= 4000 && text.utf8.count > 3900)
        let facts = WorkerFacts(id: "w", seen: 0, fields: ["running": text])
        #expect(facts.running[batches[3].batch]?.ranges == [3...3] && facts.running.count > 100)
        let photos = Array(stride(from: 0, to: 2000, by: 2))
        #expect(WorkerFacts.text(ofRunning: [(batches[0].batch, photos)]).utf8.count < 400)
        let wait = WorkerFacts.Wait(batch: Self.first, photos: 3, host: "h.example", holder: nil)
        let waiting = WorkerFacts.text(of: Array(repeating: wait, count: 1000))
        #expect(waiting.utf8.count <= 4000)
        #expect(WorkerFacts(id: "w", seen: 0, fields: ["waiting": waiting]).waits.first == wait)
        #expect(WorkerFacts.text(ofPlaces: ["/a\nb"]) == "")
        for damaged in [
            "", ";", "\(Self.first)", "\(Self.first) -1 h -", "\(Self.first) x h -", ":", "\(Self.first):x",
        ] {
            let facts = WorkerFacts(id: "w", seen: 0, fields: ["waiting": damaged, "running": damaged])
            #expect(facts.waits == [] && facts.running == [:])
        }
    }
}
