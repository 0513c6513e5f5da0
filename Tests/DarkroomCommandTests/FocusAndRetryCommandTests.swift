import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `focus` and `retry`, on a real Redis server.
@Suite(.redisServer, .serialized)
struct FocusAndRetryCommandTests {
    private static let urls = (0..<100).map { "http://photos.example/\($0)" }

    @Test func photosAreTheNextToRun() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls, seal: false) { $0.operationSize = 10 }
        let first = try queue.run("focus", "\(id)", "--photos", "40-60")
        #expect(first.status == 0 && first.standardOutput == "photos 40-60 of batch \(id) are the next to run\n")
        let again = try queue.run("focus", "\(id)", "--photos", "40-60")
        #expect(again.standardOutput == "photos 40-60 of batch \(id) are the next to run, as before\n")
        let half = try queue.run("focus", "\(id)", "--photos", "95-104", "--only", "--json")
        #expect(half.status == 0)
        #expect(
            half.standardError
                == "only operations with photos 95-104 of batch \(id) run until the focus is cleared; 5 of them are fed, "
                + "the others are not fed yet\n")
        let facts = try #require(try half.json() as? [String: Any])
        let focus = try #require(facts["focus"] as? [String: Any])
        #expect(focus["first"] as? Int == 95 && focus["last"] as? Int == 104 && focus["only"] as? Bool == true)
        #expect(facts["fed"] as? Int == 5)

        let status = try queue.run("status", "\(id)")
        #expect(status.lines.contains("focus\tphotos 95-104 only"))
        #expect(status.standardError.contains("only operations with photos 95-104 run, the focus stops the others"))
        #expect(status.standardError.contains("darkroom focus \(id) --clear"))
        #expect(try queue.run("batches").lines[0].hasSuffix("\tfocus on photos 95-104 only"))
        #expect(try queue.claim().map(\.held.number) == [10])

        let none = try queue.run("focus", "\(id)", "--photos", "500")
        #expect(
            none.standardOutput
                == "photo 500 of batch \(id) is the next to run; 0 of them are fed, the others are not fed yet\n")
        #expect(try queue.run("focus", "\(id)", "--clear").standardOutput == "batch \(id) has no focus any more\n")
        #expect(try queue.run("focus", "\(id)", "--clear").standardOutput == "batch \(id) had no focus\n")
    }

    @Test func focusOutsideTheListIsAnError() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        let outside = try queue.run("focus", "\(id)", "--photos", "100-120")
        #expect(outside.status == 1)
        #expect(outside.standardError.contains("has 100 photos, with the indexes 0-99: photos 100-120 are not in it"))
        let end = try queue.run("focus", "\(id)", "--photos", "99-120")
        #expect(
            end.status == 0 && end.standardOutput.contains("; 1 of them is fed, the list does not contain the others"))
    }

    @Test func waitReportsAFocusThatStopsOtherPhotos() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) { $0.operationSize = 10 }
        #expect(try queue.run("focus", "\(id)", "--photos", "40-60", "--only").status == 0)
        let waiting = try queue.start("wait", "\(id)")
        try waiting.waitFor(
            "only operations with photos 40-60 run, the focus stops the others; resume them with: darkroom focus \(id)"
        )
        try queue.develop("F")
        #expect(try queue.store.facts(of: id)?.counts.filtered == 30, "operations of these photos run completely")
        #expect(try queue.run("focus", "\(id)", "--clear").status == 0)
        try queue.develop("F")
        #expect(try waiting.outcome().status == 0)
    }

    @Test func failedPhotosRunAgain() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) { $0.name = "holidays" }
        try queue.develop("FgiF")
        #expect(try queue.run("wait", "holidays").status == 3)
        let some = try queue.run("retry", "holidays", "--reason", "timeout,http-5xx", "--json")
        #expect(some.status == 0)
        let label = "batch \(id) \"holidays\""
        #expect(some.standardError.contains("25 failed photos of \(label) run again\n"))
        #expect(some.standardError.contains("25 failed photos of \(label) stayed failed") == false)
        let facts = try #require(try some.json() as? [String: Any])
        #expect(facts["retried"] as? Int == 25 && facts["notKept"] as? Int == 0)
        #expect(facts["state"] as? String == "ready" && facts["failures"] as? [String: Int] == ["http-4xx": 25])
        let early = try queue.run("retry", "holidays")
        #expect(early.status == 0 && early.standardOutput == "no photo of \(label) runs again\n")
        #expect(early.standardError.contains("25 failed photos of \(label) stayed failed, because their operations"))
        try queue.develop("F")
        #expect(try queue.run("status", "holidays").lines.contains("round\t2: failed photos were run again"))
        #expect(try queue.run("retry", "holidays").standardOutput == "25 failed photos of \(label) run again\n")
        try queue.develop("F")
        #expect(try queue.run("wait", "holidays").status == 0)
        let none = try queue.run("retry", "holidays", "--reason", "timeout")
        #expect(
            none.standardOutput == "no photo of \(label) has failed for timeout: there is nothing to retry\n")
        #expect(none.status == 0 && none.standardError.isEmpty)
    }

    @Test func reportsPhotosThatCannotBeRetried() throws {
        let queue = try Queue()
        let cancelled = try queue.submit(Self.urls)
        #expect(try queue.run("cancel", "\(cancelled)").status == 0)
        let refused = try queue.run("retry", "\(cancelled)")
        #expect(refused.status == 1)
        #expect(
            refused.standardError.contains(
                "batch \(cancelled) is cancelled: a cancelled batch is not retried; submit the list again"))

        let id = try queue.submit(Self.urls)
        try queue.develop("i")
        _ = try queue.store.connection.call(.init("DEL", queue.store.keys.operations(id)))
        let lost = try queue.run("retry", "\(id)")
        #expect(lost.status == 1 && lost.standardOutput == "no photo of batch \(id) runs again\n")
        #expect(lost.standardError.contains("100 failed photos of batch \(id) stayed failed: Redis no longer has"))
        #expect(lost.standardError.contains("darkroom retry \(id) --list LIST"))
    }
}
