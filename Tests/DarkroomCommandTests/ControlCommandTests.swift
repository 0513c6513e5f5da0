import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

/// `cancel`, `suspend`, `resume`, `prioritize` and `limits`, on a real Redis server.
@Suite(.redisServer, .serialized)
struct ControlCommandTests {
    private static let urls = (0..<40).map { "http://photos.example/\($0)" }

    @Test func cancelReportsExecutingOperationsAndFinalPhotos() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) {
            $0.name = "holidays"
            $0.operationSize = 10
        }
        let held = try queue.claim(operations: 2).map(\.held)
        let stateCodes = [UInt8](repeating: UInt8(ascii: "F"), count: 10)
        _ = try queue.store.perform(
            queue.store.report(held[0], worker: "tester", stateCodes: stateCodes, bytesIn: 1, bytesOut: 1))
        let first = try queue.run("cancel", "holidays")
        #expect(first.status == 0 && first.standardError.isEmpty)
        let label = "batch \(id) \"holidays\""
        #expect(first.standardOutput == "\(label) is cancelled: 1 operation still runs, 10 of 40 photos were done\n")
        let again = try queue.run("cancel", "holidays", "--json")
        #expect(again.status == 0)
        #expect(again.standardError.hasPrefix("\(label) was cancelled already: "))
        let facts = try #require(try again.json() as? [String: Any])
        #expect(facts["cancelled"] as? Bool == true && facts["state"] as? String == "executing")
        #expect(try queue.run("status", "holidays").lines.contains("state\texecuting, cancelled"))
    }

    @Test func cancelOfAFinishedBatchIsAnError() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        try queue.develop("F")
        let outcome = try queue.run("cancel", "\(id)")
        #expect(outcome.status == 1 && outcome.standardOutput.isEmpty)
        let message = "error: batch \(id) has finished: 40 of 40 photos were done, so there is nothing left to cancel\n"
        #expect(outcome.standardError == message)
    }

    @Test func cancelWaitsForTheLeasesOfALostWorker() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls) { $0.lease = .seconds(6) }
        _ = try queue.claim("lost")
        let outcome = try queue.run("cancel", "\(id)", "--wait")
        #expect(outcome.status == 0)
        #expect(outcome.standardError == "waiting for 1 operation that still runs\n")
        #expect(outcome.standardOutput == "batch \(id) is cancelled: 0 of 40 photos were done\n")
        #expect(try queue.store.facts(of: id)?.state == .finished)
    }

    @Test func allBatchesAreCancelled() throws {
        let queue = try Queue()
        try queue.submit(Self.urls)
        try queue.develop("F")
        try queue.submit(Self.urls)
        try queue.submit(Self.urls, seal: false)
        let outcome = try queue.run("cancel", "--all", "--wait")
        #expect(outcome.status == 0 && outcome.standardOutput == "2 batches are cancelled\n")
        let again = try queue.run("cancel", "--all", "--json")
        #expect(again.status == 0 && again.standardError == "no batch was left to cancel\n")
        let cluster = try #require(try again.json() as? [String: Any])
        #expect(cluster["cancelled"] as? Int == 0)
        #expect((cluster["batches"] as? [String: Int])?["finished"] == 3)
        #expect(try queue.run("wait").status == 0)
    }

    @Test func photosAreCancelledByTheirIndexes() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        let outcome = try queue.run("cancel", "\(id)", "--photos", "10-20,31")
        #expect(outcome.status == 0 && outcome.standardOutput == "12 photos of batch \(id) are cancelled\n")
        let again = try queue.run("cancel", "\(id)", "--photos", "9-10", "--json")
        #expect(again.status == 0)
        #expect(
            again.standardError == "1 photo of batch \(id) is cancelled; 1 was done or cancelled before\n")
        let facts = try #require(try again.json() as? [String: Any])
        #expect(facts["photosCancelled"] as? Int == 1 && facts["photosFinalBefore"] as? Int == 1)
        #expect((facts["counts"] as? [String: Int])?["cancelled"] == 13)
        let outside = try queue.run("cancel", "\(id)", "--photos", "39-40")
        #expect(outside.status == 1)
        #expect(
            outside.standardError.contains("batch \(id) has 40 photos, with the indexes 0-39: photos 39-40 are not"))
        #expect(try queue.store.facts(of: id)?.counts.cancelled == 13)
    }

    @Test func suspendAndResumeReportTheirChanges() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        _ = try queue.store.perform(queue.store.heartbeat(worker: "w", facts: [("host", "h")]))
        func output(_ command: String, _ options: String...) throws -> String {
            let outcome = try Program(
                [command] + options + ["--namespace", queue.namespace], environment: queue.environment
            ).outcome()
            #expect(outcome.status == 0)
            return outcome.standardOutput + outcome.standardError
        }
        #expect(try output("suspend", "\(id)") == "batch \(id) is suspended\n")
        #expect(try output("suspend", "\(id)") == "batch \(id) was suspended already\n")
        #expect(try output("suspend", "\(id)", "--downloads") == "downloads of batch \(id) are suspended\n")
        let parts = "downloads and filtrations of batch \(id)"
        #expect(try output("suspend", "\(id)", "--downloads", "--filtrations") == "\(parts) are suspended\n")
        #expect(try output("suspend", "\(id)", "--downloads", "--filtrations") == "\(parts) were suspended already\n")
        let still = "warning: batch \(id): it is suspended; go on with: darkroom resume \(id)\n"
        #expect(try output("resume", "\(id)", "--downloads") == "downloads of batch \(id) go on\n" + still)
        #expect(try output("resume", "\(id)") == "batch \(id) goes on\n")
        #expect(try output("resume", "\(id)") == "batch \(id) was not suspended\n")
        #expect(try output("suspend", "--all") == "the cluster is suspended\n")
        let cluster = "warning: the cluster is suspended; go on with: darkroom resume --all\n"
        #expect(try output("resume", "\(id)") == "batch \(id) was not suspended\n" + cluster)
        #expect(try output("suspend", "--all", "--filtrations") == "filtrations of the cluster are suspended\n")
        #expect(try output("resume", "--all") == "the cluster goes on\n")
        #expect(try output("resume", "--all") == "the cluster was not suspended\n")
    }

    @Test func suspensionsAreShown() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        let suspended = try queue.run("suspend", "\(id)", "--filtrations", "--json")
        let facts = try #require(try suspended.json() as? [String: Any])
        #expect(facts["suspended"] as? Bool == false && facts["filtrationsSuspended"] as? Bool == true)
        #expect(facts["downloadsSuspended"] as? Bool == false)
        #expect(try queue.run("batches").lines[0].hasPrefix("\(id)\tready, filtrations suspended\t"))
        let status = try queue.run("status", "\(id)")
        #expect(status.lines.contains("state\tready, filtrations suspended"))
        #expect(
            status.standardError.contains(
                "its filtrations are suspended; go on with: darkroom resume \(id) --filtrations"))

        let cluster = try #require(try queue.run("suspend", "--all", "--downloads", "--json").json() as? [String: Any])
        #expect(cluster["suspended"] as? Bool == false && cluster["downloadsSuspended"] as? Bool == true)
        #expect(try queue.run("status").lines.contains("cluster\tdownloads suspended"))
        #expect(try queue.run("workers").standardError == "the cluster: downloads suspended\n")
        let warnings = try queue.run("status", "\(id)").standardError
        #expect(
            warnings.contains(
                "warning: the downloads of the cluster are suspended; go on with: darkroom resume --all --downloads\n"))
        #expect(!warnings.contains("no running worker"), "no worker claims operations while downloads are suspended")
    }

    @Test func waitReportsWhyABatchDoesNotContinue() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        #expect(try queue.run("suspend", "\(id)").status == 0)
        let waiting = try queue.start("wait", "\(id)")
        try waiting.waitFor("batch \(id): it is suspended; go on with: darkroom resume \(id)")
        #expect(try queue.run("suspend", "--all").status == 0)
        try waiting.waitFor("the cluster is suspended; go on with: darkroom resume --all\n")
        #expect(try queue.run("resume", "--all").status == 0)
        #expect(try queue.run("resume", "\(id)").status == 0)
        try waiting.waitFor("no running worker")
        #expect(try queue.run("cancel", "\(id)").status == 0)
        let outcome = try waiting.outcome()
        #expect(outcome.status == 4)
        #expect(outcome.standardError.components(separatedBy: "it is suspended").count == 2, "reported once")
    }

    @Test func priorityIsChanged() throws {
        let queue = try Queue()
        let id = try queue.submit(Self.urls)
        let first = try queue.run("prioritize", "\(id)", "veryHigh")
        #expect(first.status == 0 && first.standardOutput == "batch \(id) has priority veryHigh now\n")
        let again = try queue.run("prioritize", "\(id)", "veryHigh", "--json")
        #expect(again.status == 0 && again.standardError == "batch \(id) had priority veryHigh already\n")
        #expect((try again.json() as? [String: Any])?["priority"] as? String == "veryHigh")
        #expect(try queue.run("batches").lines[0].hasSuffix("\tveryHigh\t\t"))
        #expect(try queue.run("status", "\(id)").lines.contains("priority\tveryHigh"))
    }

    @Test func limitsAreShownAndChanged() throws {
        let queue = try Queue()
        #expect(try queue.run("limits").lines == ["downloads\tno limit", "filtrations\tno limit"])
        #expect(try queue.run("limits", "--downloads", "16").lines == ["downloads\t16", "filtrations\tno limit"])
        let json = try #require(try queue.run("limits", "--filtrations", "2", "--json").json() as? [String: Any])
        #expect(json["limits"] as? [String: Int] == ["downloads": 16, "filtrations": 2])
        #expect(try queue.run("status").lines.contains("limits\t16 downloads, 2 filtrations at once in each worker"))
        #expect(
            try queue.run("workers").standardError == "limited to 16 downloads, 2 filtrations at once in each worker\n")
        #expect(try queue.run("limits", "--clear").lines == ["downloads\tno limit", "filtrations\tno limit"])
        #expect(try queue.run("workers").standardError.isEmpty)
    }

    @Test(arguments: ["suspend", "resume", "prioritize", "focus"])
    func finishedAndCancelledBatchesCannotBeControlled(_ command: String) throws {
        let queue = try Queue()
        let finished = try queue.submit(Self.urls)
        try queue.develop("F")
        let cancelled = try queue.submit(Self.urls)
        #expect(try queue.run("cancel", "\(cancelled)").status == 0)
        let rest = ["prioritize": ["high"], "focus": ["--photos", "1"]][command] ?? []
        for (id, state) in [(finished, "has finished"), (cancelled, "is cancelled")] {
            let line = [command, "\(id)"] + rest + ["--namespace", queue.namespace]
            let outcome = try Program(line, environment: queue.environment).outcome()
            #expect(outcome.status == 1 && outcome.standardOutput.isEmpty)
            #expect(outcome.standardError.hasPrefix("error: batch \(id) \(state): "), "\(outcome.standardError)")
        }
    }

    @Test func missingAndAmbiguousBatchesAreErrors() throws {
        let queue = try Queue()
        let ids = try [queue.submit(Self.urls), queue.submit(Self.urls)].sorted()
        let lines = [
            ["cancel"], ["suspend"], ["resume"], ["prioritize", "high"], ["depend", "--on", "\(ids[0])"],
            ["focus", "--clear"], ["retry"],
        ]
        for line in lines {
            func run(_ name: String) throws -> Program.Outcome {
                let words = [line[0], name] + line.dropFirst() + ["--namespace", queue.namespace]
                return try Program(words, environment: queue.environment).outcome()
            }
            let missing = try run("nothing")
            #expect(missing.status == 1)
            #expect(missing.standardError.contains("no batch \"nothing\": the newest are \(ids[0]), \(ids[1])"))
            let ambiguous = try run(String(ids[0].description.prefix(6)))
            #expect(ambiguous.status == 1)
            #expect(ambiguous.standardError.contains("names 2 batches (\(ids[0]), \(ids[1])); give more of the id"))
        }
    }
}
