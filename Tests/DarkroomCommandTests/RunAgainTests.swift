import Darkroom
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// A later run with options that may mend failures of the earlier run.
@Suite(.timeLimit(.minutes(5))) struct RunAgainTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func run(_ list: String, _ more: [String]) throws -> Program.Outcome {
        try Program(["run", list, "-o", scratch.path("out")] + more).outcome()
    }

    @Test func optionThatMayMendFailuresRunsThemAgain() throws {
        let server = try HostileServer([
            "/0.jpg": .answer(body: RunCommandTests.photo), "/1.jpg": .answer(body: RunCommandTests.photo),
        ])
        defer { server.stop() }
        let list = try scratch.write("list.txt", server.url("/0.jpg\n") + server.url("/1.jpg\n") + "ftp://a/b\n")
        let first = try run(list, ["--max-download", "1KiB"])
        #expect(first.standardOutput.contains("3 photos: 0 filtered, 3 failed"), "\(first)")
        // The same options, and stricter options, mend nothing.
        for same in [["--max-download", "1KiB"], ["--max-download", "500B"]] {
            #expect(try run(list, same).standardOutput.contains("nothing to do"))
        }
        // An option that mends nothing yet: the photos then fail for another reason.
        let plan = try run(list, ["--max-download", "1KiB", "--allow-private", "--dry-run"])
        #expect(plan.standardOutput.contains("run 2 failed photos of batch"), "\(plan)")
        let second = try run(list, ["--max-download", "1KiB", "--allow-private"])
        #expect(second.standardError.contains("--allow-private is not as in the earlier run"), "\(second)")
        #expect(second.standardError.contains("2 failed photos run again"), "\(second)")
        #expect(second.standardOutput.contains("too-large"), "\(second)")
        let third = try run(list, ["--allow-private"])
        #expect(third.standardError.contains("--max-download is not as in the earlier run"), "\(third)")
        #expect(third.standardOutput.contains("3 photos: 2 filtered, 1 failed"), "\(third)")
        #expect(!third.standardOutput.contains("nothing to do"))
        #expect(try run(list, ["--allow-private"]).standardOutput.contains("nothing to do"))
        for index in 0..<2 { #expect(server.log.requests["/\(index).jpg"] == 2, "photo \(index)") }
    }

    /// Each option, with a value that mends failures, and the reasons of these failures.
    @Test(arguments: [
        ("--allow-networks 10.0.0.0/8", "address-denied"), ("--files-under /", "file-denied"),
        ("--connect-to a:80:b:80", "connect-failed"), ("--header Accept:image/*", "http-4xx"),
        ("--user-agent other", "http-4xx"), ("--per-host 1", "http-5xx"), ("--retries 900", "timeout"),
        ("--retry-for 5m", "http-5xx"), ("--patience 5m", "host-unreachable"),
        ("--max-redirects 9", "too-many-redirects"), ("--max-download 1GiB", "too-large"),
        ("--max-pixels 900M", "too-many-pixels"), ("--min-rate 0B", "stalled"), ("--timeout 1h", "timeout"),
        ("--connect-timeout 1m", "connect-failed"), ("--stall-timeout 1h", "stalled"),
        ("--photo-timeout 1h", "filter-timeout"), ("--isolate", "crashed"), ("--custom-filter a=cat", "filter-failed"),
        ("--http1", "stalled"), ("--custom-filter-timeout 1h", "filter-timeout"),
        ("--custom-filter-memory 8GiB", "filter-failed"), ("--proxy http://8.8.8.8", "connect-failed"),
    ])
    func everyOptionMendsItsFailures(option: String, reason: String) throws {
        func conditions(_ more: String) throws -> RunConditions {
            let words = ["list", "-o", "out"] + more.split(separator: " ").map(String.init)
            return try RunCommand.parse(words).conditions()
        }
        let (plain, changed) = (try conditions(""), try conditions(option))
        #expect(changed.mendings(since: plain).reasons.map(\.word).contains(reason))
        #expect(plain.mendings(since: plain).isEmpty && changed.mendings(since: changed).isEmpty)
        // Without the option the failures are not mended, unless any change may mend them.
        let isOrdered = ![
            "--proxy", "--connect-to", "--header", "--user-agent", "--http1", "--isolate", "--custom-filter ",
        ].contains { option.hasPrefix($0) }
        if isOrdered { #expect(plain.mendings(since: changed).isEmpty) }
        #expect([changed, plain].mendings(under: changed).count == 1)
    }

    @Test func otherInputOfCommandsMendsFailures() throws {
        func conditions(_ more: [String]) throws -> RunConditions {
            try RunCommand.parse(["list", "-o", "out"] + more).conditions()
        }
        let bytes = try conditions(["--custom-filter", "a=cat"])
        let png = try conditions(["--custom-filter", "a=cat", "--custom-filter-input", "png"])
        for (now, before) in [(png, bytes), (bytes, png)] {
            let mendings = now.mendings(since: before)
            #expect(mendings.map(\.option) == ["--custom-filter-input"])
            #expect(mendings.reasons.isSuperset(of: [.filterFailed, .damaged, .outOfMemory]))
        }
        // The conditions of a version without the option.
        var json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(bytes)) as? [String: Any] ?? [:]
        #expect(json.removeValue(forKey: "operationInput") != nil)
        let data = try JSONSerialization.data(withJSONObject: json)
        #expect(try bytes.mendings(since: JSONDecoder().decode(RunConditions.self, from: data)).isEmpty)
        // `--custom-filter-input` has no effect without `--custom-filter`.
        #expect(try conditions(["--custom-filter-input", "png"]) == conditions([]))
    }

    @Test func certificateAuthoritiesMendFailuresOfTLS() throws {
        let certificates = try Certificates()
        let plain = try RunCommand.parse(["list", "-o", "out"]).conditions()
        let trusting = try RunCommand.parse(["list", "-o", "out", "--ca", certificates.authority]).conditions()
        #expect(trusting.mendings(since: plain).reasons == [.tlsFailed])
    }

    @Test func photosThatOptedOutRunAgainWithoutTheOption() throws {
        let plain = try RunCommand.parse(["list", "-o", "out"]).conditions()
        let skips = try RunCommand.parse(["list", "-o", "out", "--skip-opted-out"]).conditions()
        #expect(plain.mendings(since: skips).reasons == [.optedOut])
        #expect(skips.mendings(since: plain).isEmpty)
    }

    @Test func adviceIsTheWholeCommandWithoutSecrets() {
        let words = [
            "/usr/bin/darkroom", "run", "a b", "--dry-run", "--header", "Cookie: secret", "--header=X: secret", "-o",
            "out", "--proxy", "http://a:secret@b", "--proxy=secret@c",
        ]
        #expect(
            OwnCommandLine.text(adding: "--again", to: words)
                == "darkroom run 'a b' --header ... --header=... -o out --proxy ... --proxy=... --again")
        #expect(
            OwnCommandLine.text(adding: "--again", to: ["darkroom", "run", "-o", "out", "--", "-x.txt"])
                == "darkroom run -o out --again -- -x.txt")
    }

    @Test func folderOfThePhotosIsNotTheOutputFolder() throws {
        try scratch.makeFolder("photos")
        for index in 0..<2 { try scratch.write("photos/\(index).jpg", RunCommandTests.photo) }
        let photos = scratch.path("photos")
        let link = scratch.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: photos)
        for output in [photos, photos + "/", photos + "/.", photos + "//", link, photos + "/../photos"] {
            for more in [[], ["--recursive"], ["--dry-run"]] {
                let outcome = try Program(["run", photos, "-o", output] + more).outcome()
                #expect(outcome.status == 1, "\(outcome)")
                #expect(outcome.standardError.contains("choose another folder"), "\(outcome)")
            }
        }
        #expect(try Program(["run", link, "-o", photos]).outcome().status == 1)
        #expect(try scratch.contents("photos").sorted() == ["0.jpg", "1.jpg"])
    }

    /// The folder of photos is a folder to which the run writes files.
    @Test(arguments: [("web", true), ("web/00001", true), ("00001", true), ("other", false), ("web/other", false)])
    func folderOfThePhotosIsNotAFolderOfResults(part: String, isRefused: Bool) throws {
        try scratch.makeFolder("out/\(part)")
        try scratch.write("out/\(part)/0.jpg", RunCommandTests.photo)
        let outcome = try Program(
            ["run", scratch.path("out/\(part)"), "-o", scratch.path("out"), "--rendition", "web = none", "--dry-run"]
        ).outcome()
        #expect((outcome.status == 1) == isRefused, "\(outcome)")
    }

    @Test func outputInTheFolderOfThePhotosIsNotRead() throws {
        try scratch.makeFolder("photos")
        for index in 0..<2 { try scratch.write("photos/\(index).jpg", RunCommandTests.photo) }
        let photos = scratch.path("photos")
        for _ in 0..<2 {
            let outcome = try Program(["run", photos, "-o", photos + "/developed", "--recursive"]).outcome()
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.standardOutput.contains("2 photos: 2 filtered"), "\(outcome)")
        }
    }
}
