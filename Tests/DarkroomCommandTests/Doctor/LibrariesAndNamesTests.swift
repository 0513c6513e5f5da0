import ArgumentParsing
import Darkroom
import DarkroomImaging
import DarkroomLogging
import DarkroomRecipes
import ErrorExpectations
import Testing

@testable import DarkroomCommand

/// Capabilities of the libraries, name lookups, and log options.
@Suite struct LibrariesAndNamesTests {
    @Test func reportsMissingFormats() {
        func facts(readable: Set<ImageFormat>, tls: String? = "OpenSSL", asynchronous: Bool = true) -> LibraryFacts {
            LibraryFacts(
                imaging: "8.14", readable: readable, writable: Set(ImageFormat.allCases), transfer: "7.88", tls: tls,
                looksUpNamesAsynchronously: asynchronous)
        }
        let all = LibrariesCheck(facts: facts(readable: Set(ImageFormat.allCases)))
        #expect(all.findings.map(\.verdict) == [.ok, .ok, .ok])
        var ofDebian12 = all.facts
        ofDebian12.oldHEIF = "1.15.1"
        let warning = LibrariesCheck(facts: ofDebian12).findings[0]
        #expect(warning.verdict == .warning && warning.found.hasPrefix("libvips 8.14, libheif 1.15.1: jpeg"))
        #expect(warning.advice?.contains("iOS 18") == true && warning.advice?.contains("1.18") == true)
        let old = LibrariesCheck(facts: facts(readable: [.png, .jpeg], asynchronous: false)).findings
        #expect(old.map(\.verdict) == [.warning, .ok, .warning] && old[0].found == "libvips 8.14: jpeg png")
        #expect(old[0].advice?.hasPrefix("webp, avif, heic, jxl, tiff, gif cannot be read here") == true)
        let bare = LibrariesCheck(facts: facts(readable: [], tls: nil)).findings
        #expect(bare.map(\.verdict) == [.problem, .ok, .problem])
    }

    @Test func failedLookUpIsAProblemOnlyIfRequested() {
        func verdict(_ outcome: Result<Int, NameLookUp.Failure>, asked: Bool = true, seconds: Int = 0) -> Verdict {
            let lookUp = NameLookUp(name: "h", isAsked: asked, outcome: outcome, took: .seconds(seconds))
            return NamesCheck(lookUps: [lookUp]).findings[0].verdict
        }
        let failure = NameLookUp.Failure(reason: "no answer")
        #expect(verdict(.success(2)) == .ok && verdict(.success(2), seconds: 1) == .warning)
        #expect(verdict(.failure(failure)) == .problem && verdict(.failure(failure), asked: false) == .warning)
        let found = NameLookUp.performed(of: ["localhost", "127.0.0.1"])
        #expect(found.count == 2 && found.allSatisfy { (try? $0.outcome.get()) ?? 0 >= 1 })
    }

    @Test func logOptionsMakeLoggers() throws {
        struct Command: ParsableCommand {
            static let configuration = CommandConfiguration(name: "command", abstract: "Log.")
            @OptionGroup var log: LogOptions
        }
        let standard = try Command.parse([]).log
        #expect(standard.logLevel == .info && standard.logFormat == .readable)
        let chosen = try Command.parse(["--log-level", "warning", "--log-format", "json"]).log
        let logger = chosen.logger("l", to: chosen.log())
        #expect(logger.isEnabled(.warning) && !logger.isEnabled(.notice) && chosen.logFormat == .json)
        let end = try requireError(CommandExit.self) { try Command.parse(["--log-level", "warnig"]) }
        #expect(end.code == .usage && end.standardError.contains("did you mean \"warning\"?"), "\(end.standardError)")
    }
}
