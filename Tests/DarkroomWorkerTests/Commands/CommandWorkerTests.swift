import DarkroomConcurrency
import DarkroomModel
import DarkroomPhotoServer
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomWorker

private struct Nothing: CustomFilter {
    func main(_ photo: DownloadedPhoto) throws -> [UInt8] { [] }
}

/// Workers whose custom filters are commands.
@Suite(.redisServer, .serialized, .timeLimit(.minutes(5))) struct CommandWorkerTests {
    private let darkroom: Darkroom
    private let server: HostileServer

    init() throws {
        darkroom = try Darkroom(.current)
        server = try HostileServer(["/a.txt": .answer(body: Array("hello".utf8))])
    }

    private func submit(_ operation: String, photos: Int) throws -> BatchID {
        try darkroom.submit(
            Array(repeating: server.url("/a.txt"), count: photos),
            darkroom.options {
                $0.filters = [.custom(operation)]
                $0.operationSize = 5
            })
    }

    @Test(arguments: [
        (FilterCommand.Style.process, "cat; echo \" $DARKROOM_BATCH\""),
        (
            .stream,
            #"""
            while read line; do head -c 5 >/dev/null; i=$((i + 1)); printf '{"photo":%d,"bytes":5}\nhello' $i; done
            """#
        ),
    ])
    func runsTheCommandForEveryPhoto(_ style: FilterCommand.Style, _ command: String) throws {
        // The processes of a stream have no variables of a batch.
        let name = "own\(UInt64.random(in: 0 ... .max))"
        let id = try submit(name, photos: 40)
        let facts = try darkroom.withWorker {
            $0.addFilter(try FilterCommand(name, command: command, style: style))
        } run: { _ in
            let facts = try darkroom.wait(id)
            let kept = RunningProcess.having("DARKROOM_CUSTOM_FILTER=\(name)")
            #expect(kept.isEmpty == (style == .process), "\(kept)")
            return facts
        }
        try darkroom.check(id)
        #expect(facts.counts.filtered == 40)
        let file = try #require(try darkroom.manifest(of: id)[39]?.file)
        let text = String(
            decoding: FileManager.default.contents(atPath: "\(darkroom.folder)/\(file)") ?? Data(), as: UTF8.self)
        #expect(text == (style == .process ? "hello \(id)\n" : "hello") && file.hasSuffix(".txt"))
        #expect(RunningProcess.having("DARKROOM_CUSTOM_FILTER=\(name)").isEmpty)
    }

    @Test func laterOperationOfANameReplacesTheEarlier() throws {
        var configuration = PhotoWorkerConfiguration()
        func isCommand() -> Bool { if case .command? = configuration.customFilters["own"] { true } else { false } }
        try configuration.addFilter("own") { Nothing() }
        configuration.addFilter(try FilterCommand("own", command: "cat"))
        #expect(isCommand())
        try configuration.addFilter("own") { Nothing() }
        #expect(!isCommand() && configuration.customFilters.count == 1)
    }

    @Test func cancelledBatchEndsItsCommands() throws {
        let id = try submit("hang", photos: 4)
        try darkroom.withWorker {
            $0.addFilter(try FilterCommand("hang", command: "setsid sleep 1000 & sleep 1000"))
        } run: { _ in
            try waitUntil("the commands run") { RunningProcess.having("DARKROOM_BATCH=\(id)").count >= 3 }
            _ = try darkroom.store.perform(darkroom.store.cancel(id))
            try waitUntil("the commands have ended") { RunningProcess.having("DARKROOM_BATCH=\(id)").isEmpty }
            let facts = try darkroom.wait(id)
            #expect(facts.counts.cancelled == 4)
        }
    }

    @Test func failedCommandIsTheDetailOfThePhoto() throws {
        let id = try submit("fail", photos: 1)
        let facts = try darkroom.withWorker {
            $0.addFilter(try FilterCommand("fail", command: "printf 'no\\033[2J sky' >&2; exit 9"))
        } run: { _ in
            try darkroom.wait(id)
        }
        #expect(facts.failures == [.filterFailed: 1])
        let detail = try darkroom.manifest(of: id)[0]?.detail
        #expect(detail == "custom filter fail: the command ended with status 9: no\u{1b}[2J sky")
    }

    @Test func workerWithoutTheCommandLeavesTheBatchToOtherWorkers() throws {
        let id = try submit("wanted", photos: 3)
        try darkroom.withWorker {
            $0.addFilter(try FilterCommand("other", command: "cat"))
        } run: { _ in
            darkroom.waitForLog("for x:wanted: registered with it are other")
            let facts = try darkroom.withWorker {
                $0.addFilter(try FilterCommand("wanted", command: "cat"))
            } run: { _ in
                try darkroom.wait(id)
            }
            #expect(facts.counts.filtered == 3)
        }
    }
}
