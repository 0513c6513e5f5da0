import DarkroomModel
import DarkroomStore
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomOutput
@testable import DarkroomWorker

/// Temporary files of workers that died.
@Suite(.redisServer, .timeLimit(.minutes(1))) struct LeftoverTests {
    let darkroom: Darkroom

    init() throws { darkroom = try Darkroom(.current) }

    @Test func thoseOfACancelledBatchAreRemoved() throws {
        let id = try darkroom.submit(
            (0..<3).map { "http://127.0.0.1/\($0)" }, darkroom.options { $0.operationSize = 2 })
        guard case .claimed(let claimed) = try darkroom.store.perform(darkroom.store.claim(worker: "dead", number: 1)),
            let held = claimed.operations.first?.held
        else {
            Issue.record("nothing was claimed")
            return
        }
        let manifest = ManifestPath.folder(id)
        let left = [
            StaleFiles.temporaryName(for: "0", fence: held.fence, worker: "dead.1"),
            StaleFiles.temporaryName(for: "1", fence: held.fence - 1, worker: "dead.2"),
            manifest + "/"
                + StaleFiles.temporaryName(
                    for: StaleFiles.manifestName(operation: 1), fence: held.fence, worker: "dead"),
        ]
        let others = [
            StaleFiles.temporaryName(for: "1", fence: held.fence + 1, worker: "other.1"),
            StaleFiles.temporaryName(for: "7", fence: held.fence, worker: "other.1"), "000000-0.jpg",
        ]
        for name in left + others {
            #expect(FileManager.default.createFile(atPath: darkroom.folder + "/" + name, contents: Data()))
        }
        _ = try darkroom.store.perform(darkroom.store.cancel(id))
        let worker = try darkroom.worker()
        while try darkroom.store.perform(darkroom.store.expireLeases()) {}
        let deadline = ContinuousClock.now + .seconds(20)
        func areThere(_ names: [String]) -> [Bool] {
            names.map { FileManager.default.fileExists(atPath: darkroom.folder + "/" + $0) }
        }
        while areThere(left).contains(true), .now < deadline {
            _ = try darkroom.store.connection.call(.init("BLPOP", darkroom.keys.prefix + "nothing", "0.05"))
        }
        worker.stop()
        worker.wait()
        #expect(!areThere(left).contains(true))
        #expect(!areThere(others).contains(false), "nothing else is removed")
    }
}
