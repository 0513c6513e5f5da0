import DarkroomCoding
import DarkroomModel
import ErrorExpectations
import Testing

@testable import DarkroomStorage

/// The lines that a claim takes over from earlier claims, in every storage.
@Suite struct PastLinesTests {
    private func past(_ batch: TestBatch, _ states: String, token: Int = 20) throws -> [ManifestLine?] {
        try decoded(batch.sink(token: token, states: states, expiries: 1).past)
    }

    @Test(arguments: StorageKind.allCases) func linesOfFinalPhotosAreTakenOver(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        try batch.store(token: 7, [0, 1, 2], name: "7")
        try batch.store(token: 8, [1], name: "8")
        try batch.store(token: 9, [3], name: "9", state: .cancelled)
        let found = try past(batch, "FFNC")
        #expect(found.map { $0?.name } == ["7", "8", nil, "9"])
        #expect(found.map { $0?.index } == [0, 1, nil, 3])
        // No photo is final.
        #expect(try past(batch, "NDNN") == [nil, nil, nil, nil])
        #expect(try batch.sink(token: 20).past == [nil, nil, nil, nil])
    }

    /// Redis has lost its latest changes, and with them claims with higher tokens.
    @Test(arguments: StorageKind.allCases) func linesOfForgottenClaimsAreTakenOver(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        try batch.store(token: 25, [0], name: "25")
        try batch.store(token: 7, [0, 1], name: "7")
        #expect(try past(batch, "FFNN").map { $0?.name } == ["25", "7", nil, nil])
    }

    @Test(arguments: StorageKind.allCases) func lineThatContradictsTheStateIsNotTakenOver(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        try batch.store(token: 7, [0, 1], name: "7", state: .cancelled)
        try batch.store(token: 8, [0, 1], name: "8")
        let found = try past(batch, "CFNN")
        #expect(found.map { $0?.name } == ["7", "8", nil, nil])
        #expect(found.map { $0?.state } == ["cancelled", "filtered", nil, nil])
    }

    @Test(arguments: StorageKind.allCases) func linesOfOthersAreNotTakenOver(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let other = try TestBatch(batch.harness, 1)
        try batch.store(token: 7, [0], name: "own")
        try batch.store(token: 9, name: "foreign", of: other.id)
        try other.store(token: 9, name: "other")
        // The lines of operation 2 with the number of operation 1.
        let wrong = Array(batch.lines(2, name: "other photo").compactMap { $0 }.joined())
        try batch.harness.store(wrong, as: batch.held(token: 10), in: batch.place)
        #expect(try past(batch, "FFNN").map { $0?.name } == ["own", "1.jpg", nil, nil])
    }

    @Test(arguments: StorageKind.allCases) func lineIsMadeFromTheStateAndTheFile(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let sink = try batch.sink()
        _ = try sink.write(batch.made("jpg"), of: batch.record(0), attempt: 1) { true }
        _ = try sink.write(batch.made("png", ending: "png"), of: batch.record(1), attempt: 2) { true }
        let code = String(decoding: [FailureReason.diskFull.stateCode], as: UTF8.self)
        let found = try past(batch, "FF\(code)F")
        for (position, ending) in ["jpg", "png"].enumerated() {
            var line = ManifestLine(batch: batch.id, record: batch.record(position), state: .filtered)
            (line.filters, line.file) = ("none", "00000\(position)-\(position).\(ending)")
            (line.bytes, line.sha256) = (3, Hexadecimal.text(SHA256Digest.hash(of: Array(ending.utf8))))
            #expect(found[position] == line)
        }
        #expect(found[2] == ManifestLine(batch: batch.id, record: batch.record(2), state: .failed(.diskFull)))
        // The file is missing.
        #expect(found[3] == ManifestLine(batch: batch.id, record: batch.record(3), state: .filtered))
    }

    @Test(arguments: StorageKind.allCases) func renditionsOfALineAreFound(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(), renditions: ["large", "small"])
        let sink = try batch.sink()
        for index in [0, 1] {
            _ = try sink.write(batch.made("\(index)"), of: batch.record(index), attempt: index) { true }
        }
        try batch.harness.remove("large/000001-1.jpg", in: batch.place)
        let found = try past(batch, "FFNN")
        #expect(found[0]?.paths == ["large/000000-0.jpg", "small/000000-0.jpg"])
        #expect(found[0]?.renditions?.map(\.rendition) == ["large", "small"])
        #expect(found[0]?.renditions?.map(\.bytes) == [6, 6])
        #expect(found[1]?.renditions?.map(\.rendition) == ["small"])
    }

    @Test(arguments: StorageKind.allCases) func customFileOfALineIsFound(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(), isCustom: true)
        _ = try batch.sink().write(batch.made("t", ending: "txt"), of: batch.record(0), attempt: 1) { true }
        let found = try past(batch, "FNNN")
        #expect(found[0]?.file == "000000-0.txt" && found[0]?.bytes == 1)
    }

    @Test(arguments: StorageKind.allCases) func damagedLineIsMadeAgain(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let sound = Array(batch.lines(1, [1], name: "sound").compactMap { $0 }.joined())
        for text in StoredManifestTests.garbage {
            let bytes = Array(text.utf8) + [10] + sound + Array("{\"batch\":".utf8)
            try batch.harness.store(bytes, as: batch.held(token: 8), in: batch.place)
            #expect(try past(batch, "FFNN").map { $0?.name } == ["0.jpg", "sound", nil, nil], "\(text.prefix(60))")
        }
    }

    @Test(arguments: StorageKind.allCases, [true, false]) func secretsAreRemoved(kind: StorageKind, redacts: Bool)
        throws
    {
        let batch = try TestBatch(kind.harness(), redacts: redacts)
        try batch.store(token: 8, [0], name: "stored")
        let found = try past(batch, "FFNN")
        let urls = found.compactMap { $0?.url }
        #expect(urls == (0...1).map { "http://photos.example/\($0)" + (redacts ? "" : "?key=secret") })
    }

    /// Lines from the state codes would lack the details of the failures, and would replace the stored lines.
    @Test(arguments: StorageKind.allCases, [true, false]) func linesThatCannotBeReadAreNotMadeAgain(
        kind: StorageKind, isPlaceAway: Bool
    ) throws {
        let batch = try TestBatch(kind.harness())
        try batch.store(token: 7, [0, 1], name: "7")
        try batch.store(token: 8, [1], name: "8")
        let held = try batch.storage().take()
        if isPlaceAway {
            try batch.harness.takeAway()
        } else {
            try batch.harness.makeUnreadable(batch.held(token: 7), in: batch.place)
        }
        for (states, expiries) in [("FFNN", 0), ("NNNN", 1)] {
            let claim = batch.claim(token: 20, states: states, expiries: expiries)
            let fault = try requireError(StorageFault.self) { try held.begin(claim, batch.records(), worker: "w") }
            #expect(fault.scope != .file && !fault.isFull && !fault.isTaken)
        }
        try batch.harness.mend()
        let sink = try held.begin(batch.claim(token: 20, states: "FFNN", expiries: 1), batch.records(), worker: "w")
        #expect(try decoded(sink.past).map { $0?.name } == ["7", "8", nil, nil])
        #expect(try batch.tokens() == [7, 8])
    }

    /// The lines of a claim are gone for good, for example because a user has removed them.
    @Test(arguments: StorageKind.allCases) func missingLineIsMadeAgain(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        try batch.store(token: 8, [1], name: "8")
        #expect(try past(batch, "FFNN").map { $0?.name } == ["0.jpg", "8", nil, nil])
    }

    /// A worker that only measures claims has no photos.
    @Test(arguments: StorageKind.allCases) func claimWithoutPhotosHasNoLines(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        try batch.store(token: 8, name: "stored")
        let held = try batch.storage().take()
        let sink = try held.begin(batch.claim(token: 20, states: "FFNN", expiries: 1), [], worker: "w")
        #expect(sink.past.isEmpty)
    }
}
