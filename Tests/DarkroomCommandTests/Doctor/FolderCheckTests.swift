import DarkroomFiles
import DarkroomTestSupport
import Foundation
import Testing

@testable import DarkroomCommand

/// Checks of output folders, and of the requirements of `run`.
@Suite struct FolderCheckTests {
    private func findings(_ path: String) -> [Finding] { FolderCheck(facts: FolderProbe(path: path).facts()).findings }

    @Test func filesAndMissingFoldersAreReported() throws {
        let folder = try ScratchFolder()
        let file = try folder.write("file", "x")
        #expect(findings(file).map(\.found) == ["not a folder: \(file)"] && findings(file)[0].verdict == .problem)
        #expect(findings(file + "/below")[0].verdict == .problem)
        let missing = findings(folder.path("none"))
        #expect(missing.map(\.verdict) == [.warning] && missing[0].found.hasPrefix("no such folder"))
    }

    @Test func folderThatCannotBeWrittenIsAProblem() throws {
        // No user can create a file in procfs.
        let finding = try #require(findings("/proc").last)
        #expect(finding.verdict == .problem && finding.found.hasPrefix("cannot make files in /proc: "))
        for (error, advice) in [(EROFS, "mount it for writing"), (ENOSPC, "free some space"), (EACCES, "change its")] {
            var facts = FolderFacts(path: "/out")
            facts.writing = .failure(SystemFailure("write", error))
            #expect(FolderCheck(facts: facts).findings.last?.advice?.hasPrefix(advice) == true)
        }
    }

    @Test func hugeFileSystemIsShown() {
        var facts = FolderFacts(path: "/out")
        facts.freeBytes = FolderProbe.bytes(.max / 2, of: 4096)
        facts.totalBytes = FolderProbe.bytes(.max, of: 1)
        #expect(facts.freeBytes == .max && facts.totalBytes == .max)
        facts.writing = .success(.milliseconds(1))
        #expect(FolderCheck(facts: facts).findings.first?.verdict == .ok)
    }

    @Test(arguments: [
        (2_000_000_000, 20_000, 10, [Verdict.ok, .ok, .ok]), (900_000_000, 9999, 600, [.warning, .warning, .warning]),
        (15_000_000, 0, 10, [.problem, .problem, .ok]), (2_000_000_000, nil, 10, [.ok, .ok]),
    ])
    func spaceFilesAndSpeed(_ bytes: Int, _ files: Int?, _ milliseconds: Int, _ verdicts: [Verdict]) {
        var facts = FolderFacts(path: "/out")
        facts.freeBytes = bytes
        facts.freeFiles = files
        facts.writing = .success(.milliseconds(milliseconds))
        #expect(FolderCheck(facts: facts).findings.map(\.verdict) == verdicts)
    }

    @Test func choosesAFolderForTheSocketOfRun() throws {
        let folder = try ScratchFolder()
        func findings(_ runtime: String, _ path: String = "", temporary: String = "/tmp") -> [Finding] {
            let environment = ["XDG_RUNTIME_DIR": runtime, "PATH": path]
            return RunCheck(facts: RunProbe(environment: environment, temporary: temporary).facts()).findings
        }
        let server = try folder.write("redis-server", "")
        chmod(server, 0o755)
        let good = findings(folder.path(""), "/nowhere:\(folder.path("."))")
        #expect(good.map(\.verdict) == [.ok, .ok] && good[0].found == folder.path(""))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")) == ["redis-server"])
        let other = findings("/nowhere", "/nowhere")
        #expect(other.map(\.verdict) == [.warning, .warning] && other[0].found.hasPrefix("/tmp, since /nowhere: "))
        #expect(findings("", temporary: "/proc")[0].verdict == .problem)
        let deep = folder.path(String(repeating: "d", count: 90))
        try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
        #expect(findings("", temporary: deep)[0].found.hasSuffix("its path is too long for a socket"))
    }
}
