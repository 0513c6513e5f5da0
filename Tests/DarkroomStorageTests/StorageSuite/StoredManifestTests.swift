import DarkroomConcurrency
import DarkroomModel
import ErrorExpectations
import Testing

@testable import DarkroomStorage

/// The manifest, in every storage.
@Suite(.timeLimit(.minutes(5))) struct StoredManifestTests {
    @Test(arguments: StorageKind.allCases) func readerFindsTheLinesOfAllParts(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let manifest = batch.place.results.manifest
        for number in [2500, 1, 1000, 999] {
            try batch.sink(number).write(batch.lines(number, [3, 1], name: "\(number)"))
        }
        #expect(
            try manifest.parts(of: batch.id).filter { try !manifest.part($0, of: batch.id).operations.isEmpty } == [
                0, 1, 2,
            ])
        #expect(try manifest.part(0, of: batch.id).operations == [1, 999])
        #expect(try manifest.part(1, of: batch.id).operations == [1000])
        #expect(try manifest.part(7, of: batch.id).operations == [])
        #expect(try batch.readNames() == ["1", "1", "999", "999", "1000", "1000", "2500", "2500"])
        #expect(try batch.readLines().map(\.index) == [1, 3, 3993, 3995, 3997, 3999, 9997, 9999])
        let part = try manifest.part(0, of: batch.id)
        #expect(try part.linesOf(1).map(\.index) == [1, 3])
        #expect(try part.linesOf(2) == [] && part.linesOf(1000) == [])
    }

    @Test(arguments: StorageKind.allCases) func batchesAreInTheOrderOfSubmission(kind: StorageKind) throws {
        let harness = try kind.harness()
        let missing = try requireError(ManifestError.self) { try harness.place("photos").results.manifest.batches() }
        #expect(missing.code == .noManifest)
        for number in [2, 0, 1] { _ = try TestBatch(harness, number) }
        let manifest = harness.place("photos").results.manifest
        #expect(try manifest.batches() == TestBatch.ids)
        #expect(try manifest.parts(of: "unknown") == [])
        #expect(try manifest.part(0, of: "unknown").operations == [])
    }

    @Test(arguments: StorageKind.allCases) func laterLinesOfASinkReplaceItsEarlierLines(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let sink = try batch.sink()
        try sink.write(batch.lines([0, 1], name: "first"))
        try sink.write(batch.lines([1, 2], name: "second"))
        #expect(try batch.readNames() == ["second", "second"] && batch.readLines().map(\.index) == [1, 2])
        #expect(try batch.tokens() == [10])
        #expect(try batch.harness.remains(in: batch.place) == [])
    }

    @Test(arguments: StorageKind.allCases) func lineComesFromTheHighestToken(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let sinks = try [9, 10, 8].map { try batch.sink(token: $0, worker: "w\($0)") }
        try sinks[0].write(batch.lines([0, 1], name: "9"))
        try sinks[1].write(batch.lines([2, 0], name: "10"))
        try sinks[2].write(batch.lines(name: "8"))
        #expect(try batch.readNames() == ["10", "9", "10", "8"])
        #expect(try batch.tokens() == [8, 9, 10])
    }

    @Test(arguments: StorageKind.allCases) func linesOfOtherBatchesAreNotRead(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let other = try TestBatch(batch.harness, 1)
        try batch.store(token: 3, name: "own")
        try batch.store(token: 9, name: "foreign", of: other.id)
        try other.store(token: 20, name: "other")
        #expect(try batch.readNames() == ["own", "own", "own", "own"])
        #expect(try other.readNames() == ["other", "other", "other", "other"])
    }

    static let garbage = [
        "no JSON", "{\"batch\":", "[]", "\0\0\0\0", "\u{ff}", "{}", String(repeating: "[", count: 100_000),
        String(repeating: "x", count: 3 << 20),
        "{\"batch\":\"\(TestBatch.ids[0])\",\"index\":-1,\"name\":\"a\",\"url\":\"u\",\"state\":\"filtered\"}",
        "{\"batch\":\"\(TestBatch.ids[0])\",\"index\":9223372036854775807,\"name\":\"a\",\"url\":\"u\",\"state\":\"filtered\"}",
        "{\"batch\":\"../x\",\"index\":0,\"name\":\"a\",\"url\":\"u\",\"state\":\"filtered\"}",
    ]

    /// A power failure may leave such lines with a lower token.
    @Test(arguments: StorageKind.allCases) func damagedLinesAreSkippedBelowTheHighestToken(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        for text in Self.garbage {
            let sound = batch.lines([0], name: "sound").compactMap { $0 }.joined()
            try batch.harness.store(Array(text.utf8) + [10] + sound, as: batch.held(token: 3), in: batch.place)
            try batch.store(token: 4, [1], name: "new")
            #expect(try batch.readNames() == ["sound", "new"], "\(text.prefix(60))")
        }
    }

    @Test(arguments: StorageKind.allCases) func damagedLineOfTheHighestTokenIsAnError(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        for text in Self.garbage {
            try batch.harness.store(Array((text + "\n").utf8), as: batch.held(token: 3), in: batch.place)
            let error = expectError(ManifestError.self) { try batch.readLines() }
            #expect(error?.code == .damaged, "\(text.prefix(60))")
            #expect(error.map { $0.description.utf8.count < 1000 } == true)
        }
    }

    @Test(arguments: StorageKind.allCases) func tooManyLinesAreAnError(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        try batch.store(token: 3, name: String(repeating: "a", count: 1000))
        let manifest = batch.place.results.manifest(maxFileBytes: 3000)
        let error = expectError(ManifestError.self) { try manifest.forEachLine(of: batch.id) { _ in } }
        #expect(error?.code == .unreadable)
        var count = 0
        try batch.place.results.manifest(maxFileBytes: 10_000).forEachLine(of: batch.id) { _ in count += 1 }
        #expect(count == 4)
    }

    // MARK: - Removing

    @Test(arguments: StorageKind.allCases) func lastClaimRemovesTheLinesOfEarlierClaims(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        for token in [7, 8] { try batch.store(token: token, name: "old") }
        try batch.store(2, token: 7, name: "other operation")
        let sink = try batch.sink(token: 9, states: "FFFN", expiries: 1)
        try sink.write(batch.lines(name: "new"))
        try batch.store(token: 12, name: "later claim")  // another worker has claimed the operation in the meantime
        sink.removeOthers()
        #expect(try batch.tokens() == [9, 12] && batch.tokens(2) == [7])
    }

    /// Redis has lost its latest changes, and with them claims with higher tokens.
    @Test(arguments: StorageKind.allCases) func forgottenClaimsAreRemoved(kind: StorageKind) throws {
        for (states, expiries) in [("FNNN", 0), ("NNNN", 1)] {
            let batch = try TestBatch(kind.harness())
            try batch.store(token: 12, name: "forgotten")
            let sink = try batch.sink(token: 9, states: states, expiries: expiries)
            try sink.write(batch.lines(name: "new"))
            sink.removeOthers()
            #expect(try batch.tokens() == [9] && batch.readNames() == ["new", "new", "new", "new"])
        }
    }

    @Test(arguments: StorageKind.allCases) func sinkDiscardsItsOwnLines(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        try batch.store(token: 8, name: "old")
        try batch.store(2, token: 9, name: "other operation")
        let sink = try batch.sink(token: 9)
        sink.discard()  // nothing is stored
        try sink.write(batch.lines(name: "new"))
        #expect(try batch.tokens() == [8, 9])
        sink.discard()
        #expect(try batch.tokens() == [8] && batch.tokens(2) == [9])
    }

    // MARK: - Reading while workers write

    @Test(arguments: StorageKind.allCases) func readerFollowsALaterClaim(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        for number in [1, 2] { try batch.sink(number, token: 5).write(batch.lines(number, name: "old")) }
        let part = try batch.place.results.manifest.part(0, of: batch.id)
        let sink = try batch.sink(token: 6, states: "FFFF", expiries: 1)
        try sink.write(batch.lines(name: "new"))
        sink.removeOthers()
        batch.place.withdraw("unknown")
        #expect(try part.linesOf(1).map(\.name) == ["new", "new", "new", "new"])
        #expect(try part.linesOf(2).map(\.name) == ["old", "old", "old", "old"])
    }

    @Test(arguments: StorageKind.allCases) func readerOfAForgottenBatchFindsNothing(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        try batch.sink().write(batch.lines(name: "a"))
        let part = try batch.place.results.manifest.part(0, of: batch.id)
        batch.place.withdraw(batch.id)
        #expect(try part.linesOf(1) == [])
    }

    /// Claims follow one another. A reader always finds a line of each photo, and never the lines of an earlier claim
    /// after those of a later one.
    @Test(arguments: StorageKind.allCases) func readerAlwaysFindsAllLines(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        try batch.store(token: 1, name: "1")
        nonisolated(unsafe) let shared = batch  // the harness is only read
        let isDone = Latch()
        let problems = onThreads(2) { thread in
            guard thread == 1 else {
                for token in 2...150 {
                    let sink = try? shared.sink(token: token, states: "FFFF", expiries: 1)
                    try? sink?.write(shared.lines(name: "\(token)"))
                    sink?.removeOthers()
                }
                isDone.set()
                return nil
            }
            var last = 0
            repeat {
                do {
                    let names = try shared.readNames()
                    let tokens = names.compactMap { Int($0) }
                    guard tokens.count == 4, tokens.allSatisfy({ $0 >= last }) else { return "\(names) after \(last)" }
                    last = tokens.max() ?? last
                } catch {
                    return "\(error)"
                }
            } while !isDone.isSet
            return nil
        }
        #expect(problems == [])
        #expect(try batch.readNames() == ["150", "150", "150", "150"])
    }
}

extension TestBatch {
    /// Lines of the first operation.
    fileprivate func lines(_ positions: [Int], name: String) -> [[UInt8]?] { lines(1, positions, name: name) }
}

extension ManifestPart {
    /// Like `lines(ofOperation:)`, but may be called in `#expect`.
    fileprivate func linesOf(_ number: Int) throws -> [ManifestLine] {
        var copy = self
        return try copy.lines(ofOperation: number)
    }
}
