import Darkroom
import Testing

@testable import DarkroomCommand

@Suite struct RunProgressTests {
    static let start = ContinuousClock.now

    func batch(fed: Int, downloaded: Int = 0, filtered: Int = 0, failed: Int = 0, sealed: Bool = true) throws
        -> BatchFacts
    {
        try WatchScene.facts(
            WatchScene.holidays,
            [
                "state": "executing", "photos": "\(fed)", "count.downloaded": "\(downloaded)",
                "count.filtered": "\(filtered)", "count.failed": "\(failed)", "sealed": sealed ? "1" : "0",
            ], [.damaged: "\(failed)"])
    }

    @Test func measuresTheLastTenSeconds() {
        var meter = RateMeter()
        meter.add(0, at: Self.start)
        #expect(meter.perSecond == nil)
        for second in 1...100 { meter.add(second < 50 ? second * 10 : 490, at: Self.start + .seconds(second)) }
        #expect(meter.perSecond == 0)
        for second in 101...105 { meter.add(490 + (second - 100) * 20, at: Self.start + .seconds(second)) }
        #expect(meter.perSecond == 10)
    }

    @Test func showsALineForEachStage() throws {
        var lines = ProgressLines(try batch(fed: 1000, downloaded: 10), at: Self.start)
        lines.update(try batch(fed: 1000, downloaded: 100, filtered: 390, failed: 10), at: Self.start + .seconds(4))
        let stages = lines.stages(width: 100, feedOnly: false).map(\.text)
        try #require(stages.count == 3)
        #expect(stages[2] == "failed      damaged 10")
        #expect(stages[0].hasPrefix("downloaded  \u{2588}"))
        #expect(stages[0].contains("500 of 1,000"))
        #expect(stages[1].contains("400 of 1,000"))
        #expect(stages[1].contains("/s  10 failed  6.0 s left"))
        #expect(stages[1].count { $0 == "\u{2588}" } * 10 / 4 == stages[1].count { "\u{2588}\u{2591}".contains($0) })
        let bars = stages.prefix(2).map { $0.count { "\u{2588}\u{2591}".contains($0) } }
        #expect(bars[0] == bars[1])
        for width in [20, 40, 60, 200] {
            for stage in lines.stages(width: width, feedOnly: false) { #expect(stage.columns <= width) }
        }
    }

    @Test func barsHaveTheirColours() throws {
        let lines = ProgressLines(try batch(fed: 100, filtered: 40, failed: 10))
        let stages = lines.stages(width: 100, feedOnly: false).map(\.ansi)
        let full = String(repeating: "\u{2588}", count: 20)
        #expect(stages[0].contains("\u{1b}[92m\(full)"))
        #expect(stages[1].contains("\u{1b}[95m\(full.prefix(16))\u{1b}[m\u{1b}[31m\(full.prefix(4))\u{1b}[m"))
    }

    @Test func showsReasonsOfFailuresDuringTheRun() throws {
        let lines = ProgressLines(try batch(fed: 100, filtered: 40, failed: 10))
        #expect(lines.line(feedOnly: false) == "100 photos fed, 50 downloaded, 40 filtered, 10 failed (damaged 10)")
    }

    @Test func unchangedCountsArePrintedEveryFiveMinutes() throws {
        var plain = PlainLines(from: Self.start)
        var lines = ProgressLines(try batch(fed: 1000), at: Self.start)
        var printed: [Int] = []
        for second in 0...700 {
            let time = Self.start + .seconds(second)
            lines.update(try batch(fed: 1000, filtered: second < 12 ? second : 12), at: time)
            if plain.isDue(lines.counts(feedOnly: false), at: time) { printed.append(second) }
        }
        // The rate and the time that is left still change after the last photo.
        #expect(printed == [5, 10, 15, 315, 615])
        let (changed, early) = (["1,001 photos fed"], ["1,002 photos fed"])
        let isDue = [(changed, 701), (early, 702)].map { plain.isDue($0.0, at: Self.start + .seconds($0.1)) }
        #expect(isDue == [true, false])
    }

    @Test func showsNoRemainingTimeWhileSuspended() throws {
        var lines = ProgressLines(try batch(fed: 1000), at: Self.start)
        let facts = try batch(fed: 1000, filtered: 400)
        lines.update(facts, at: Self.start + .seconds(4))
        #expect(lines.line(feedOnly: false).contains(" left"))
        let problem = BatchProblem(.clusterSuspended, of: nil, text: "the cluster is suspended", remedies: [])
        lines.update(facts, problems: [problem], at: Self.start + .seconds(5))
        #expect(!lines.line(feedOnly: false).contains(" left"))
    }

    @Test func showsAnUnfinishedFeed() throws {
        let lines = ProgressLines(try batch(fed: 1000, filtered: 10, sealed: false))
        #expect(
            lines.stages(width: 80, feedOnly: false).map { $0.text.prefix(8) } == ["fed     ", "download", "filtered"])
        #expect(lines.line(feedOnly: false) == "1,000 photos fed so far, 10 downloaded, 10 filtered")
        #expect(lines.line(feedOnly: true) == "1,000 photos fed so far")
        #expect(lines.stages(width: 80, feedOnly: true) == [StyledLine("fed         1,000 photos")])
    }
}
