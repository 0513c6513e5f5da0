import ArgumentParsing
import Darkroom
import Foundation

/// `darkroom doctor`: looks at what Darkroom stands on, and says what to mend.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "doctor", abstract: "Check Redis, disk, limits, clock, DNS and libraries, and say what to mend.",
        discussion: """
            Run it where workers run, as the user they run as. It writes and removes some small files in the output \
            folders, changes nothing in Redis, and looks up example.com where --resolve names nothing.

            Exit status: 0 when nothing is a problem (there may be warnings), 1 otherwise.
            """,
        group: "Monitor", synonyms: ["check", "test"],
        examples: [
            "darkroom doctor",
            "darkroom doctor --redis redis://queue:6379 --output /mnt/photos --resolve photos.example",
        ])

    @Option(name: .shortAndLong, help: "A folder that photos are to be written to.", valueName: "folder")
    var output: [String]
    @Option(help: "A host that photos come from: is its name found?", valueName: "name") var resolve: [String]
    @Option(help: "Downloads at once, as workers will have them.", valueName: "count") var downloads: Int = 32
    @Option(
        help: "Photos filtered at once, as workers will have them; as many as there are cores unless given.",
        valueName: "count")
    var filtrations: Int?
    @Option(help: "The largest download that workers will take.", valueName: "size")
    var maxDownload: ByteSize = .mebibytes(64)
    @Option(help: "The largest picture that workers will take, in pixels.", valueName: "count")
    var maxPixels: Quantity = 100_000_000
    @Flag(help: "Print JSON.") var json: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws {
        try requireAtLeast(1, downloads, "--downloads")
        try requireAtLeast(1, filtrations ?? 1, "--filtrations")
        try requireAtLeast(1, maxDownload.bytes, "--max-download")
        try requireAtLeast(1, maxPixels.value, "--max-pixels")
    }

    func run() throws {
        let report = DoctorReport(findings: try findings())
        let output = StandardOutput()
        if json { try output.document(report.json) } else { try report.write(to: output) }
        if report.verdict == .problem { throw ExitCode.failure }
    }

    private func findings() throws -> [Finding] {
        let files = SystemFiles()
        var load = WorkerLoad()
        load.downloads = downloads
        load.filtrations = filtrations ?? load.filtrations
        load.maxDownloadBytes = maxDownload.bytes
        load.maxPixels = maxPixels.value
        let group = ControlGroup(files)
        var findings = RedisExamination(address: try redis.configuration(), files: files).findings
        let checks: [any Check] =
            output.map { FolderCheck(facts: FolderProbe(path: absolutePath($0)).facts()) } + [
                RunCheck(facts: RunProbe().facts()),
                OpenFilesCheck(limit: SystemLimits.openFiles, load: load),
                MemoryCheck(facts: MemoryFacts(files, group), load: load),
                CoresCheck(facts: CoreFacts(group), load: load),
                ConfinementCheck(facts: .found()),
                NamesCheck(lookUps: NameLookUp.performed(of: resolve)),
                LibrariesCheck(facts: LibraryFacts.installed()),
            ]
        for check in checks { findings += check.findings }
        return findings
    }
}
