import DarkroomModel
import Testing

/// The rates and times of a batch.
@Suite struct BatchProgressTests {
    static let now = 1_795_252_101_000

    func batch(_ fields: [String: String], reasons: [FailureReason: String] = [:]) throws -> BatchFacts {
        let all = ["state": "executing", "sealed": "1", "started": "\(Self.now - 10_000)"].merging(fields) { $1 }
        let counts = Dictionary(uniqueKeysWithValues: reasons.map { ($0.stateCode, $1) })
        return try #require(BatchFacts(id: BatchID("b"), fields: all, reasons: counts))
    }

    @Test func cancelledPhotosDoNotCountInTheRate() throws {
        let fields = ["photos": "100000", "count.filtered": "90", "count.failed": "10", "count.cancelled": "99000"]
        #expect(try batch(fields).photosPerSecond(now: Self.now) == 10)
        let cancelled = try batch(["photos": "100000", "count.filtered": "100", "flag.cancelled": "1"])
        #expect(cancelled.photosPerSecond(now: Self.now) == 10)
    }

    @Test func failedDownloadsDoNotCountAsDownloads() throws {
        let fields = ["photos": "100", "count.downloaded": "5", "count.filtered": "20", "count.failed": "12"]
        // Of the 12 failed photos, 4 had an unknown host name, 6 had HTTP status 404, and 2 were damaged.
        #expect(try batch(fields, reasons: [.nameNotFound: "4", .httpClientError: "6", .damaged: "2"]).downloads == 27)
    }

    @Test func timeCountsAllRoundsWithoutThePausesBetweenThem() throws {
        let fields = ["photos": "100", "count.filtered": "100", "spent": "40000", "state": "finished", "round": "2"]
        let ended = ["started": "\(Self.now - 60_000)", "finished": "\(Self.now - 50_000)"]
        let batch = try batch(fields.merging(ended) { $1 })
        #expect(batch.seconds(now: Self.now) == 50 && batch.photosPerSecond(now: Self.now) == 2)
        // The next round has not begun yet.
        #expect(try self.batch(fields.merging(["state": "ready", "started": ""]) { $1 }).seconds(now: Self.now) == 40)
    }

    @Test func timeLeftIsKnownOnlyWhileTheBatchProgresses() throws {
        let fields = ["photos": "200", "count.filtered": "100", "count.cancelled": "20"]
        #expect(try batch(fields).secondsLeft(at: 10, problems: []) == 8)
        let facts = JSON(try batch(fields), now: Self.now).text
        #expect(facts.contains(#""secondsLeft":8,"problems":[],"#), "\(facts)")
        #expect(try batch(fields).secondsLeft(at: 0, problems: []) == nil)
        #expect(try batch(fields.merging(["sealed": "0"]) { $1 }).secondsLeft(at: 10, problems: []) == nil)
        for of in [BatchID("b"), nil] {
            let problem = BatchProblem(.suspended, of: of, text: "it is suspended", remedies: [])
            #expect(try batch(fields).secondsLeft(at: 10, problems: [problem]) == nil)
        }
        let other = BatchProblem(.suspended, of: BatchID("c"), text: "it is suspended", remedies: [])
        #expect(try batch(fields).secondsLeft(at: 10, problems: [other]) == 8)
    }

    // MARK: The recent rate

    /// 8 h 20 min after its start, of which it was suspended for most of the time.
    @Test func rateIsThatOfTheLatestWork() throws {
        let fields = [
            "photos": "10000", "count.filtered": "3040", "started": "\(Self.now - 30_000_000)",
            "pace": "\(Self.now - 4000) 3000 6000 60 6000 60 6000 60",
        ]
        let executing = try batch(fields)
        let rate = try #require(executing.photosPerSecond(now: Self.now))
        #expect(rate == 220.0 / 22)
        #expect(executing.secondsLeft(at: rate, problems: []) == 696)
        #expect(JSON(executing, now: Self.now).text.contains(#""photosPerSecond":10,"secondsLeft":696,"#))
        // A suspension since the last sample is not part of the rate.
        let suspended = try batch(fields.merging(["flag.suspended": "1"]) { $1 })
        #expect(suspended.photosPerSecond(now: Self.now) == 10)
    }

    @Test func batchWithoutRunningPhotosIsNotExecuting() throws {
        let batch = try batch(["photos": "100", "pace": "\(Self.now - 10_001) 0 6000 60"])
        #expect(!batch.isExecuting(now: Self.now) && batch.photosPerSecond(now: Self.now) == 0)
        #expect(batch.shownState(now: Self.now, problems: []) == .ready)
        #expect(JSON(batch, now: Self.now).text.contains(#""state":"ready""#))
        let waits = BatchProblem(.waitsForHost, of: BatchID("b"), text: "it waits", remedies: [])
        let running = try self.batch(["photos": "100", "pace": "\(Self.now) 0"])
        #expect(running.shownState(now: Self.now, problems: []) == .executing)
        #expect(running.shownState(now: Self.now, problems: [waits]) == .ready)
    }

    @Test func finishedBatchHasTheAverageOfItsWork() throws {
        let fields = [
            "photos": "100", "count.filtered": "100", "state": "finished", "worked": "10000",
            "started": "\(Self.now - 50_000)", "finished": "\(Self.now)",
        ]
        #expect(try batch(fields).photosPerSecond(now: Self.now) == 10)
        #expect(try batch(fields).seconds(now: Self.now) == 50)
        for worked in ["0", "nan", "-5", "60000"] {
            #expect(try batch(fields.merging(["worked": worked]) { $1 }).photosPerSecond(now: Self.now) == 2)
        }
    }
}
