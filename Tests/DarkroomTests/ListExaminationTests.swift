import DarkroomModel
import Testing

@testable import Darkroom

@Suite struct ListExaminationTests {
    private func examine(
        _ names: [String], url: String = "http://photos.example/", fileName: String = "{index}-{name}",
        operationSize: Int = 50, repetitions: Repetitions = Repetitions()
    ) throws -> ListExamination {
        var options = BatchOptions()
        options.fileName = fileName
        options.operationSize = operationSize
        options.encoding = PhotoEncoding("format=png")
        var examination = try ListExamination(options, repetitions: repetitions)
        for (line, name) in names.enumerated() {
            ListEntry.with(name: name, url: url, line: line + 1) { examination.add($0) }
        }
        return examination
    }

    @Test(arguments: 0...8) func firstAndLastFilesAreDistinct(_ count: Int) throws {
        let examination = try examine((0..<count).map { "\($0)" }, fileName: "{index}")
        let files = (0..<count).map { "00000\($0).png" }
        #expect(examination.firstFiles == Array(files.prefix(3)))
        #expect(examination.lastFiles == Array(files.dropFirst(3).suffix(3)))
    }

    @Test func countsAllUnusableEntriesAndKeepsTheFirst() throws {
        let examination = try examine([String](repeating: "a", count: 100), url: "mailto:x")
        #expect(examination.reasons == [.notAURL: 100] && examination.photos == 100)
        #expect(examination.unusable.map(\.index) == [0, 1, 2, 3, 4])
        #expect(examination.unusable.map(\.line) == [1, 2, 3, 4, 5])
    }

    @Test func entryThatDoesNotFitIntoAnOperationIsUnusable() throws {
        let url = "http://photos.example/" + String(repeating: "a", count: 2000)
        #expect(try examine(["a"], url: url, operationSize: 50).reasons.isEmpty)
        #expect(try examine(["a"], url: url, operationSize: 1000).reasons == [.notAURL: 1])
    }

    @Test func repeatedNamesAreCompared() throws {
        let examination = try examine(["a", "b", "a", "A", "a", "b", "c", "d", "c", "d"])
        #expect(examination.repetitions.count == 5 && examination.repetitions.compared == 10)
        #expect(examination.repetitions.examples == ["a", "b", "c"])
    }

    @Test func fileNamesWithoutAnIndexAreComparedWithoutCase() throws {
        // "é" as one character, and as two.
        let examination = try examine(["Cat", "dog", "cat", "\u{e9}", "e\u{301}", "f"], fileName: "{name}")
        #expect(examination.repetitions.count == 2)
        #expect(examination.repetitions.examples == ["cat.png", "e\u{301}.png"])
    }

    @Test func comparesOnlyTheFirstNames() throws {
        let repetitions = Repetitions(mostHashes: 3)
        let examination = try examine(["a", "a", "b", "c", "c", "d", "a"], repetitions: repetitions)
        #expect(examination.repetitions.count == 1 && examination.repetitions.compared == 4)
    }
}
