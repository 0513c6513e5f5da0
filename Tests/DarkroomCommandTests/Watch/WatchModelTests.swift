import DarkroomTestSupport
import Darkroom
import Foundation
import Testing

@testable import DarkroomCommand
@testable import DarkroomStore

/// The lines and the keys of `watch`, without a terminal.
@Suite struct WatchModelTests {
    static let time = WatchScene.start + .seconds(5)

    static func text(_ model: WatchModel, _ width: Int, _ height: Int) -> String {
        lines(model, width, height).joined(separator: "\n") + "\n"
    }

    /// The lines without trailing spaces.
    static func lines(_ model: WatchModel, _ width: Int, _ height: Int) -> [String] {
        model.lines(width: width, height: height, at: time).map { line in
            String(line.text.reversed().drop { $0 == " " }.reversed())
        }
    }

    /// The expected picture from `Tests/Fixtures/Watch`.
    static func picture(_ name: String) throws -> String {
        String(decoding: try TestFiles.fixture("Watch/\(name).txt"), as: UTF8.self)
    }

    // MARK: - Pictures

    @Test(arguments: [80, 200]) func showsOneBatch(_ width: Int) throws {
        let text = Self.text(try WatchScene.oneBatch(), width, 24)
        #expect(try text == Self.picture("batch-\(width)"), "\n\(text)")
    }

    @Test(arguments: [80, 200]) func showsAllBatches(_ width: Int) throws {
        let text = Self.text(try WatchScene.allBatches(), width, 24)
        #expect(try text == Self.picture("all-\(width)"), "\n\(text)")
    }

    @Test func showsAFinishedBatch() throws {
        let model = try WatchScene.oneBatch([
            "state": "finished", "flag.cancelled": "1", "executing": "0", "count.filtered": "6000",
            "finished": "\(WatchScene.now - 10_000)",
        ])
        let lines = model.finalLines(width: 80)
        #expect(lines[0].text.hasSuffix("finished, cancelled"))
        let texts = lines.map(\.text)
        #expect(texts.contains { $0.hasPrefix("filtered") && $0.contains("\u{2588}\u{2592}") }, "\(texts)")
        #expect(texts.contains("new 0   downloaded 0   filtered 6,000   failed 55   cancelled 3,945"))
        #expect(texts.contains { $0.contains("took 40.0 s") } && !texts.contains { $0.contains("worker") })
        #expect(texts.last?.contains("premature end of JPEG file") == true)
    }

    @Test func namesARunByItsFolder() throws {
        let run = (batch: "\(WatchScene.holidays)", folder: "/my run")
        var model = WatchModel(redis: "r", namespace: "n", watched: WatchScene.holidays, hasKeys: true, run: run)
        let batch = try WatchScene.holidays(at: 0, ["window": "0"])
        model.take(WatchSnapshot(now: WatchScene.now, batches: [batch], workers: WatchScene.workers))
        let text = Self.text(model, 300, 40)
        #expect(text.contains("darkroom forget '/my run' --force"), "\n\(text)")
    }

    @Test(arguments: [1, 2, 9, 19, 20, 25, 33, 41, 57, 63, 79, 81, 99, 120, 150, 300], [1, 2, 5, 11, 24, 60])
    func fitsIntoAnyTerminal(_ width: Int, _ height: Int) throws {
        var models = [try WatchScene.oneBatch(), try WatchScene.allBatches()]
        models += [try WatchScene.oneBatch(["flag.suspended": "1", "focus.first": "4", "focus.last": "9"])]
        models += [WatchModel(redis: "redis://queue:6379", namespace: "n", watched: nil, hasKeys: true)]
        for var model in models {
            for step in 0..<3 {
                if step == 1 { _ = model.press("c", at: Self.time) }
                if step == 2 { model.lose("connect to redis://queue:6379: refused", at: Self.time) }
                let lines = model.lines(width: width, height: height, at: Self.time)
                #expect(lines.count == height)
                for line in lines { #expect(line.columns <= width, "\(line.text)") }
            }
        }
    }

    @Test func longListsShowTheNumberOfHiddenEntries() throws {
        let model = try WatchScene.allBatches { snapshot in
            let batch = snapshot.batches[1]
            snapshot.batches += (10..<40).map { number in
                let id = BatchID("20261121-0920000\(number)-0000")!
                var other = try? WatchScene.facts(id, ["state": "ready"])
                other?.options.name = "more \(number)"
                return other ?? batch
            }
            snapshot.workers += (10..<40).map { WorkerFacts(id: "more-\($0)", seen: WatchScene.now, fields: [:]) }
        }
        let lines = Self.lines(model, 100, 24)
        let hidden = ["  and 27 more", "  and more; to list them: darkroom status", "  and 28 more"]
        #expect(lines.filter { $0.hasPrefix("  and ") } == hidden, "\(lines)")
        #expect(lines.last == "s suspend all workers   c cancel all   q leave")
    }

    @Test func showsTheProblemsOfABatch() throws {
        var model = WatchModel(
            redis: "redis://queue:6379", namespace: "darkroom", watched: WatchScene.holidays, hasKeys: true)
        let batch = try WatchScene.holidays(at: 0, ["sealed": "0", "feeder.seen": "\(WatchScene.now - 40_000)"])
        var snapshot = WatchSnapshot(now: WatchScene.now, batches: [batch], workers: [])
        snapshot.cluster.areDownloadsSuspended = true
        model.take(snapshot, at: WatchScene.start)
        let text = Self.text(model, 80, 30)
        #expect(text.contains("its feeder has been silent for 40.0 s; 10,000 photos are fed"))
        #expect(text.contains("the downloads of the cluster are suspended"))
        #expect(text.contains("fed         10,000 photos so far") && text.contains("no worker   start one with"))
    }

    @Test func showsTheControlsOfABatch() throws {
        let focus = ["focus.first": "40", "focus.last": "60", "focus.only": "1", "flag.downloads.suspended": "1"]
        let one = Self.lines(try WatchScene.oneBatch(focus), 80, 24)
        #expect(one[0].hasSuffix("executing, downloads suspended") && one[2] == "focus on photos 40-60 only")
        let all = try WatchScene.allBatches { snapshot in
            snapshot.batches[1].controls.focus = BatchControls.Focus(40...60, only: true)
        }
        let rows = Self.lines(all, 200, 24).filter { $0.hasPrefix("holidays in Copán") }
        #expect(rows.count == 1 && rows[0].hasSuffix("  focus on photos 40-60 only"), "\(rows)")
    }

    @Test func showsAnOutageOfRedisAndItsDuration() throws {
        var model = try WatchScene.oneBatch()
        model.lose("connect to redis://queue:6379: refused", at: Self.time - .seconds(3))
        model.lose("connect to redis://queue:6379: refused", at: Self.time)
        let lines = Self.lines(model, 80, 24)
        #expect(lines[21].hasPrefix("Redis cannot be used for 3.0 s, trying again; above is the last known state:"))
        #expect(lines[0].hasPrefix("holidays in Copán"))
        model.take(try #require(model.snapshot), at: Self.time)
        #expect(!Self.text(model, 80, 24).contains("cannot be used"))
    }

    @Test func hidesTheRemainingTimeOfSuspendedAndUnsealedBatches() throws {
        #expect(Self.text(try WatchScene.oneBatch(), 80, 24).contains(" left"))
        #expect(!Self.text(try WatchScene.oneBatch(["flag.suspended": "1"]), 80, 24).contains(" left"))
        #expect(!Self.text(try WatchScene.oneBatch(["sealed": "0"]), 80, 24).contains(" left"))
    }

    // MARK: - Keys

    @Test func suspendsAndResumes() throws {
        var model = try WatchScene.oneBatch()
        #expect(model.press("s") == .perform(.suspend(WatchScene.holidays)))
        model = try WatchScene.oneBatch(["flag.suspended": "1"])
        #expect(Self.lines(model, 80, 24).last == "s resume   c cancel   q leave")
        #expect(model.press("s") == .perform(.resume(WatchScene.holidays)))
        model = try WatchScene.allBatches()
        #expect(model.press("s") == .perform(.suspend(nil)))
        model = try WatchScene.allBatches { $0.cluster.isSuspended = true }
        #expect(Self.lines(model, 80, 24).last == "s resume all workers   c cancel all   q leave")
        #expect(model.press("s") == .perform(.resume(nil)))
    }

    @Test func cancelsOnlyAfterAConfirmation() throws {
        var model = try WatchScene.oneBatch()
        for no in "nqsc \u{1b}" {
            #expect(model.press("c") == nil)
            #expect(Self.lines(model, 80, 24).last == "cancel holidays in Copán? 8,840 photos not done. y/n")
            #expect(model.press(no) == nil && model.question == nil)
        }
        #expect(model.press("y") == nil)
        #expect(model.press("c") == nil)
        #expect(model.press("y") == .perform(.cancel(WatchScene.holidays)))
        #expect(model.question == nil)
        model = try WatchScene.allBatches()
        #expect(model.press("c") == nil)
        let question = Self.lines(model, 80, 24).last
        #expect(question == "cancel all unfinished batches (2)? 1,258,840 photos not done. y/n")
        #expect(model.press("Y") == .perform(.cancel(nil)))
    }

    @Test func ignoresControlKeysForACancelledBatch() throws {
        var model = try WatchScene.oneBatch(["flag.cancelled": "1"])
        #expect(model.press("s", at: Self.time) == nil && model.press("c", at: Self.time) == nil)
        #expect(Self.lines(model, 80, 24).last == "the batch has finished: there is nothing to cancel")
        let later = model.lines(width: 80, height: 24, at: Self.time + .seconds(6)).last?.text
        #expect(later == "s suspend   c cancel   q leave")
    }

    @Test func leavesOnQAndDoesNothingOnOtherKeys() throws {
        var model = try WatchScene.oneBatch()
        for key in "xyYnS1 " { #expect(model.press(key) == nil) }
        #expect(model.press("q") == .leave)
        #expect(Self.lines(try WatchScene.oneBatch(hasKeys: false), 80, 24).last == "Ctrl-C leave")
    }
}
