import DarkroomModel
import Testing

@testable import DarkroomWorkerState

/// How batches of one priority share filters and downloads, without a server or threads.
@Suite struct RunQueuesTests {
    let large = BatchID("large")
    let small = BatchID("small")

    /// Begins all photos that may begin, and runs their downloads and filters; the downloads of `failing` fail. Returns
    /// the batch of each photo that began.
    private func round(_ bench: inout StateBench, failing: BatchID? = nil) -> [BatchID] {
        let begun = bench.begin()
        for photo in begun {
            if photo.operation.batch == failing {
                bench.downloadEnded(photo, StateBench.failure(photo))
            } else {
                bench.download(photo)
            }
        }
        bench.filterAll()
        return begun.map(\.operation.batch)
    }

    @Test func sharesFiltersEqually() {
        var bench = StateBench(downloads: 4, filtrations: 2)
        for number in 1...4 { bench.claim(large, number) }
        _ = round(&bench)
        bench.claim(small)
        var begun: [BatchID] = []
        for _ in 0..<4 { begun += round(&bench) }
        let share = begun.count { $0 == small }
        #expect((6...10).contains(share), "\(share) of \(begun.count)")
        bench.check()
    }

    /// When batches take turns, each of the first 100 photos of a batch counts as half a photo.
    @Test func smallBatchGetsTwoOfThreeTurns() {
        var bench = StateBench(downloads: 4, filtrations: 2)
        for number in 1...40 { bench.claim(large, number) }
        for _ in 0..<60 { _ = round(&bench) }
        for number in 1...9 { bench.claim(small, number) }
        var begun: [BatchID] = []
        for _ in 0..<24 { begun += round(&bench) }
        let share = Double(begun.count { $0 == small }) / Double(begun.count)
        #expect((0.6...0.72).contains(share), "\(share) of \(begun.count)")
        bench.check()
    }

    /// A batch whose photos fail before any filter must not occupy all downloads.
    @Test func countsPhotosThatFailBeforeTheirFilter() {
        var bench = StateBench(downloads: 4, filtrations: 2)
        let failing = BatchID("failing")
        for number in 1...12 {
            bench.claim(failing, number)
            bench.claim(large, number)
        }
        var begun: [BatchID] = []
        for _ in 0..<20 { begun += round(&bench, failing: failing) }
        let share = Double(begun.count { $0 == large }) / Double(begun.count)
        #expect((0.4...0.6).contains(share), "\(share) of \(begun.count)")
        bench.check()
    }

    @Test func aBatchThatComesBackDoesNotCatchUp() {
        var bench = StateBench(downloads: 4, filtrations: 2)
        for number in 1...6 { bench.claim(large, number) }
        bench.claim(small)
        bench.control(small) { $0.isSuspended = true }
        for _ in 0..<8 { _ = round(&bench) }
        bench.control(small) { $0.isSuspended = false }
        var begun: [BatchID] = []
        for _ in 0..<2 { begun += round(&bench) }
        #expect(begun.count { $0 == large } >= begun.count / 2 - 2, "\(begun)")
        bench.check()
    }

    @Test func suspendedFiltersDoNotTakeAllDownloads() {
        var bench = StateBench(downloads: 4, filtrations: 2)
        for number in 1...30 {
            bench.claim(large, number)
            bench.claim(small, number)
        }
        for _ in 0..<4 { _ = round(&bench) }
        bench.control(small) { $0.areFiltrationsSuspended = true }
        var begun: [BatchID] = []
        for _ in 0..<40 { begun += round(&bench) }
        #expect(begun.count { $0 == large } * 10 >= begun.count * 4, "\(begun.count { $0 == large }) of \(begun.count)")
        bench.check()
    }

    @Test func aBatchWhoseFiltersResumeDoesNotCatchUp() {
        var bench = StateBench(downloads: 4, filtrations: 2, maxBytesHeld: 40_000)
        bench.expectDownloads(of: 1000)
        for number in 1...60 { bench.claim(large, number) }
        for number in 1...30 { bench.claim(small, number) }
        bench.control(small) { $0.areFiltrationsSuspended = true }
        for _ in 0..<80 { _ = round(&bench) }
        bench.control(small) { $0.areFiltrationsSuspended = false }
        for _ in 0..<10 { _ = round(&bench) }  // filters the photos that were downloaded during the suspension
        var begun: [BatchID] = []
        for _ in 0..<40 { begun += round(&bench) }
        #expect(begun.count { $0 == large } * 10 >= begun.count * 4, "\(begun.count { $0 == large }) of \(begun.count)")
        bench.check()
    }

    /// The filters of the batch `full` are suspended. Its downloaded photos may use half of the memory, and they fill
    /// this half.
    @Test func sharesEquallyBehindABatchWithoutRoom() {
        let full = BatchID("full")
        var bench = StateBench(downloads: 4, filtrations: 2, maxBytesHeld: 20_000)
        bench.expectDownloads(of: 1000)
        for number in 1...20 { for batch in [full, large, small] { bench.claim(batch, number) } }
        bench.control(full) { $0.areFiltrationsSuspended = true }
        var begun: [BatchID] = []
        for _ in 0..<40 { begun += round(&bench) }
        let last = begun.suffix(80)
        #expect(!last.contains(full) && (30...50).contains(last.count { $0 == small }), "\(last)")
        bench.check()
    }
}
