import DarkroomCoding
import DarkroomFiles
import DarkroomModel
import ErrorExpectations
import Foundation
import Testing

@testable import DarkroomStorage

/// The files of photos, in every storage.
@Suite(.timeLimit(.minutes(5))) struct StoredFilesTests {
    @Test(arguments: StorageKind.allCases) func fileIsWholeWhenItHasItsName(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let sink = try batch.sink()
        var before: [String: [UInt8]]?
        var calls = 0
        let found = try sink.write(batch.made("photo"), of: batch.record(0), attempt: 1) {
            calls += 1
            before = try? batch.harness.files(in: batch.place)
            return true
        }
        #expect(calls == 1 && before == [:])
        try batch.expectFiles(["000000-0.jpg": "photo"])
        let digest = Hexadecimal.text(SHA256Digest.hash(of: Array("photo".utf8)))
        let file = ManifestLine.File(
            rendition: "", filters: "none", file: "000000-0.jpg", width: 30, height: 20, bytes: 5, sha256: digest)
        #expect(found == [file])
    }

    @Test(arguments: StorageKind.allCases) func unwantedFilesLeaveNothing(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(), renditions: ["large", "small"])
        let sink = try batch.sink()
        let found = try sink.write(batch.made(), of: batch.record(0), attempt: 1) { false }
        #expect(found == nil)
        try batch.expectFiles([:])
        // An earlier development stays.
        _ = try sink.write(batch.made("first"), of: batch.record(0), attempt: 2) { true }
        _ = try sink.write(batch.made("second"), of: batch.record(0), attempt: 3) { false }
        try batch.expectFiles(["large/000000-0.jpg": "firstlarge", "small/000000-0.jpg": "firstsmall"])
    }

    /// Each claim writes the same names.
    @Test(arguments: StorageKind.allCases) func laterDevelopmentReplacesTheFiles(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(), renditions: ["large", "small"])
        let sinks = try [
            batch.sink(token: 10), batch.sink(token: 11, expiries: 1, worker: "w2"), batch.sink(token: 9, worker: "w3"),
        ]
        for (number, sink) in sinks.enumerated() {
            let found = try sink.write(batch.made("\(number)"), of: batch.record(0), attempt: 1) { true }
            #expect(found?.map(\.file) == ["large/000000-0.jpg", "small/000000-0.jpg"])
            #expect(found?.map(\.rendition) == ["large", "small"])
            try batch.expectFiles(["large/000000-0.jpg": "\(number)large", "small/000000-0.jpg": "\(number)small"])
        }
    }

    @Test(arguments: StorageKind.allCases) func nameDependsOnThePhotoAndTheOptionsOnly(kind: StorageKind) throws {
        let harness = try kind.harness()
        let first = try TestBatch(harness, 0)
        let second = try TestBatch(harness, 1)
        for (batch, taken) in [(first, 100), (second, 200)] {
            let sink = try batch.sink(3, token: taken, taken: taken)
            let found = try sink.write(batch.made("\(taken)"), of: batch.record(8), attempt: taken) { true }
            #expect(found?.first?.file == batch.files.path(of: batch.record(8), batch.files.kinds[0], ending: "jpg"))
        }
        try first.expectFiles(["000008-8.jpg": "200"])
        // Large indexes have folders.
        let sink = try second.sink(2501, token: 300, taken: 200)
        _ = try sink.write(second.made("far"), of: second.record(10_000), attempt: 1) { true }
        try first.expectFiles(["000008-8.jpg": "200", "00001/010000-10000.jpg": "far"])
    }

    @Test(arguments: StorageKind.allCases) func customOperationChoosesTheEnding(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(), isCustom: true)
        let sink = try batch.sink()
        _ = try sink.write(batch.made("a", ending: "txt"), of: batch.record(0, name: "a.txt"), attempt: 1) { true }
        _ = try sink.write(batch.made("b", ending: "txt"), of: batch.record(1, name: "b.dat"), attempt: 2) { true }
        _ = try sink.write(batch.made("c", ending: "jpg"), of: batch.record(2, name: "c.jpg"), attempt: 3) { true }
        try batch.expectFiles(["000000-a.txt": "a", "000001-b.dat.txt": "b", "000002-c.jpg": "c"])
    }

    @Test(arguments: StorageKind.allCases) func fileGetsItsTime(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let time = FileTime(seconds: 1_000_000_000)
        _ = try batch.sink().write(batch.made(time: time), of: batch.record(0), attempt: 1) { true }
        #expect(try batch.harness.time(of: "000000-0.jpg", in: batch.place) == time)
    }

    /// One file of a photo cannot be written: no other file of the photo changes.
    @Test(arguments: StorageKind.allCases) func allFilesOfAPhotoAreWrittenOrNone(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness(), renditions: ["large", "middle", "small"])
        let sink = try batch.sink()
        _ = try sink.write(batch.made("first"), of: batch.record(0), attempt: 1) { true }
        let earlier = ["large", "middle", "small"].map { ("\($0)/000000-0.jpg", "first\($0)") }
        for (position, rendition) in ["large", "middle", "small"].enumerated() {
            let path = "\(rendition)/000001-1.jpg"
            try batch.harness.block(path, in: batch.place)
            let fault = try requireError(StorageFault.self) {
                try sink.write(batch.made("second"), of: batch.record(1), attempt: 2 + position) { true }
            }
            #expect(fault.scope == .file && !fault.isFull && !fault.isTaken && fault.reason == .outputDenied)
            #expect(fault.remains == nil && fault.check.fault(room: 0) == nil)
            try batch.harness.unblock(path, in: batch.place)
            try batch.expectFiles(Dictionary(uniqueKeysWithValues: earlier))
        }
    }

    /// Threads develop the same photos again and again, as two workers do after a lease has expired. A reader sees only
    /// whole files, and afterwards each photo has the files of one of the threads.
    @Test(arguments: StorageKind.allCases) func concurrentWritersLeaveOneWholeFile(kind: StorageKind) throws {
        let batch = try TestBatch(kind.harness())
        let sinks = try (0..<4).map { try batch.sink(token: 10 + $0, worker: "w\($0)") }
        let contents = (0..<4).map { String(repeating: "\($0)", count: 200_000 + $0) }
        _ = try sinks[0].write(batch.made(contents[0]), of: batch.record(0), attempt: 1) { true }
        nonisolated(unsafe) let shared = batch  // the harness is only read
        let problems = onThreads(9) { thread in
            for attempt in 2...20 {
                if thread == 8 {
                    let text = try? shared.text("000000-0.jpg")
                    guard text.map(contents.contains) == true else {
                        return "a reader found \(text?.count ?? -1) bytes"
                    }
                } else {
                    // Two threads share a sink, like two attempts of one worker.
                    let writer = thread % 4
                    let found = try? sinks[writer].write(
                        shared.made(contents[writer]), of: shared.record(0), attempt: 100 * thread + attempt
                    ) { true }
                    guard found?.first?.bytes == 200_000 + writer else { return "thread \(thread) could not write" }
                }
            }
            return nil
        }
        #expect(problems == [])
        let files = try batch.harness.files(in: batch.place)
        #expect(try batch.harness.remains(in: batch.place) == [] && files.keys.sorted() == ["000000-0.jpg"])
        #expect(contents.map { Array($0.utf8) }.contains(files["000000-0.jpg"]))
    }

    @Test func batchWithoutOutputStoresNothing() throws {
        let batch = try TestBatch(MemoryHarness(), renditions: ["large", "small"])
        let storage = NoStorage(batch.files)
        let held = try storage.take()
        #expect(!storage.isKept && held.domains.isEmpty)
        let sink = try held.begin(batch.claim(token: 1, states: "FNNN"), batch.records(), worker: "w")
        #expect(sink.past == [nil, nil, nil, nil] && sink.barriers.isEmpty && sink.loss() == nil)
        let found = try sink.write(batch.made(), of: batch.record(0), attempt: 1) { true }
        #expect(found?.map(\.bytes) == [10, 10] && found?.map(\.file) == [nil, nil])
        #expect(found?.map(\.sha256) == [nil, nil] && found?.map(\.rendition) == ["large", "small"])
        try sink.write(batch.lines(name: "a"))
        try batch.expectFiles([:])
    }
}
