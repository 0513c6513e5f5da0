import ArgumentParsing
import Darkroom
import DarkroomText
import DarkroomWorker
import Foundation

/// `darkroom doctor`: checks Redis and this machine, and prints how to fix each problem.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "doctor", abstract: "Check Redis and this machine, and print how to fix problems.",
        discussion: """
            Run it on the machines of the workers, as the user of the workers. It writes and removes some small files \
            in the output folders and changes nothing in Redis. Without --resolve it looks up example.com.

            Exit status: 0 if there is no problem (there may be warnings), 1 otherwise.
            """,
        group: "Monitor", synonyms: ["check", "test"],
        examples: [
            "darkroom doctor",
            "darkroom doctor --redis redis://queue:6379 --output /mnt/photos --resolve photos.example",
        ], mainOptions: ["output", "resolve", "json", "header", "redis", "namespace"])

    @Option(name: .shortAndLong, help: "Check this output folder.", valueName: "folder")
    var output: [String]
    @Option(help: "Check that DNS finds this host.", valueName: "name") var resolve: [String]
    @Option(help: "Concurrent filtrations of a worker; by default the number of cores.", valueName: "count")
    var filtrations: Int?
    @Option(help: "The largest download that workers accept.", valueName: "size")
    var maxDownload = ByteSize(bytes: DownloadRules().maxBytes)
    @Option(help: "The largest picture that workers accept, in pixels.", valueName: "count")
    var maxPixels: Quantity = 100_000_000
    @Flag(help: "Print JSON.") var json: Bool
    @OptionGroup var tableOptions: TableOptions
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws {
        try tableOptions.require(isTable: !json)
        try worker.requireValid()
    }

    private var worker: PhotoWorkerConfiguration {
        var worker = PhotoWorkerConfiguration()
        worker.filtrations = filtrations
        worker.downloadRules.maxBytes = maxDownload.bytes
        worker.maxPixels = maxPixels.value
        return worker
    }

    func run() throws {
        let report = DoctorReport(findings: try findings())
        let output = StandardOutput()
        if json { try output.document(report.json) } else { try report.write(to: output, tableOptions) }
        if report.verdict == .problem { throw ExitCode.failure }
    }

    private func findings() throws -> [Finding] {
        let files = SystemFiles()
        let load = WorkerLoad(worker)
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
