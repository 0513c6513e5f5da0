import DarkroomHosts
import DarkroomModel
import Testing

@testable import DarkroomWorkerState

/// Operations of which all photos wait for long leave the worker.
@Suite struct DeferralTests {
    private let batch: BatchID = "waits"

    /// Claims an operation, starts its photos, and lets each photo wait. A wait of nil has no known end.
    private func bench(_ waits: [Duration?], isIdle: Bool = true, leaseExpiries: Int = 0) -> (StateBench, HeldOperation)
    {
        var bench = StateBench(downloads: 8, filtrations: 2)
        let held = bench.claim(batch, photos: waits.count, leaseExpiries: leaseExpiries)
        for (photo, wait) in zip(bench.beginDownloads(urgently: true), waits) {
            bench.downloadWaits(photo, isIdle: isIdle, for: wait)
        }
        return (bench, held)
    }

    @Test func operationIsReleasedUntilTheFirstPhotoGoesOn() throws {
        var (bench, held) = bench([.seconds(60), .seconds(20), .seconds(40)])
        let release = try #require(bench.releases(now: .now).first)
        #expect(release.held == held)
        let due = try #require(release.due) - .now
        #expect(due <= .seconds(20))
        #expect(due > .zero, "the other photos wait for longer")
        #expect(release.retries.count == 3 && release.retries.values.allSatisfy { $0.attempts == 1 })
        #expect(bench.beginDownloads(urgently: true).isEmpty, "none of its photos starts any more")
        // The reply was lost. The operation is released until the same time.
        #expect(bench.releases(now: .now + .seconds(15)).first?.due == release.due)
        bench.check()
    }

    @Test(
        arguments: [
            [.seconds(60), .seconds(9), .seconds(60)], [.seconds(60), nil, .seconds(60)],
        ] as [[Duration?]]) func operationStaysIfAPhotoGoesOnSoon(waits: [Duration?])
    {
        var (bench, _) = bench(waits)
        #expect(bench.releases(now: .now).isEmpty)
        bench.check()
    }

    @Test func operationStaysIfAPhotoCompetesForItsTurn() {
        var (bench, _) = bench([.seconds(60)], isIdle: false)
        #expect(bench.releases(now: .now).isEmpty)
    }

    /// Otherwise another worker would run its other photos while this one searches for the photo that crashes.
    @Test func quarantinedOperationStays() {
        var (bench, _) = bench([.seconds(60)], leaseExpiries: 2)
        #expect(bench.releases(now: .now).isEmpty)
    }

    @Test func outcomesAreReportedFirst() throws {
        var bench = StateBench(downloads: 8, filtrations: 2)
        bench.claim(batch, photos: 2)
        let photos = bench.beginDownloads(urgently: true)
        bench.downloadWaits(photos[0], isIdle: true, for: .seconds(60))
        _ = bench.downloadBegins(photos[1])
        bench.downloadEnded(photos[1], StateBench.failure(photos[1]))
        #expect(bench.releases(now: .now).isEmpty)
        let report = try #require(bench.reportsDue(now: .now, olderThan: .zero).first)
        bench.reported(report, now: .now)
        #expect(bench.releases(now: .now).first?.due != nil)
        bench.check()
    }

    @Test func stoppingWorkerReleasesAtOnceWithWhatItKnows() throws {
        var (bench, held) = bench([.seconds(60), .seconds(5)])
        for photo in bench.stop() { bench.downloadEnded(photo, nil) }
        let release = try #require(bench.releases(now: .now).first)
        #expect(release.held == held && release.due == nil)
        #expect(release.retries.mapValues(\.attempts) == [0: 1, 1: 1])
    }

    @Test func nextWorkerKnowsTheAttempts() throws {
        var bench = StateBench(downloads: 8, filtrations: 2)
        bench.claim(batch, photos: 3, retries: "4000 0:5:2:21000:1:8000:14500 2:1:0:0:0:0:0")
        let photos = bench.beginDownloads(urgently: true)
        let now = ContinuousClock.now
        let history = photos[0].history
        #expect(history.attempts == 5 && history.failures?.count == 2 && history.troubles?.count == 1)
        #expect(isClose(now - history.failures!.since, .seconds(25)))
        #expect(isClose(now - history.troubles!.since, .seconds(12)))
        #expect(isClose(history.next! - now, .milliseconds(10_500)))
        #expect(photos[1].history == RetryHistory() && photos[2].history.attempts == 1)
        // The photo has had one attempt. If this worker begins it again, it still counts this attempt.
        bench.downloadWaits(photos[1], for: nil)
        bench.downloadEnded(photos[1], nil)
        #expect(bench.beginDownloads(urgently: true).first?.history.attempts == 1)
    }

    /// Otherwise a photo would fail because no worker was there, or because its batch was suspended.
    @Test(arguments: [(4, 25), (14, 35), (3600, 35)]) func onlyThePlannedWaitCounts(passed: Int, age: Int) throws {
        var bench = StateBench(downloads: 8, filtrations: 2)
        bench.claim(batch, photos: 1, retries: "\(passed * 1000) 0:5:2:21000:2:21000:14000")
        let history = try #require(bench.beginDownloads(urgently: true).first).history
        for series in [history.failures, history.troubles] {
            #expect(isClose(.now - (try #require(series?.since)), .seconds(age)))
        }
    }

    @Test func photoThatBeginsEarlierKeepsItsOperation() throws {
        var bench = StateBench(downloads: 8, filtrations: 2)
        bench.claim(batch, photos: 1)
        let photo = try #require(bench.beginDownloads(urgently: true).first)
        bench.downloadWaits(photo, isIdle: true, for: .seconds(60))
        let permission = bench.downloadBegins(photo)
        #expect(permission != .no)
        #expect(bench.releases(now: .now).isEmpty, "its host answers again")
    }

    @Test(arguments: [
        "", "x", "5", "5 ", "-1 0:5:2:21000:1:8000:14500", "5 0:5:2:21000:1:8000", "5 0:5:2:21000:1:8000:14500:1",
        "5 -1:5:2:21000:1:8000:14500", "5 0:5:2:99999999999999:1:8000:14500", "5 0:5:2:x:1:8000:14500",
        "5 10:1:0:0:0:0:0", "5 0:9999999999:0:0:0:0:0",
    ]) func damagedRetriesAreIgnored(text: String) {
        var bench = StateBench(downloads: 8, filtrations: 2)
        bench.claim(batch, photos: 3, retries: text)
        #expect(bench.beginDownloads(urgently: true).allSatisfy { $0.history == RetryHistory() })
    }

    @Test func waitInRedisIsBounded() throws {
        var bench = StateBench(downloads: 8, filtrations: 2)
        bench.claim(batch, photos: 1, retries: "0 0:1:1:0:0:0:31000000000")
        let photo = try #require(bench.beginDownloads(urgently: true).first)
        #expect(try #require(photo.history.next) - .now <= .seconds(3600))
    }
}

/// Whether a measured duration is within 8 s of the expected one. A busy machine may pause the test for seconds.
private func isClose(_ measured: Duration, _ expected: Duration) -> Bool {
    measured > expected - .seconds(8) && measured < expected + .seconds(8)
}
