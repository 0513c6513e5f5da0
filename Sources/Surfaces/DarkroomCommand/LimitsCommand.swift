import ArgumentParsing
import Darkroom
import DarkroomCoordinator

/// `darkroom limits`: sets and shows the limits on concurrent work of each worker.
struct LimitsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "limits", abstract: "Limit the concurrent work of each worker, or show the limits.",
        discussion: """
            Without options, the command shows the limits. A limit applies to every worker, including workers that \
            start later. Running downloads and filtrations are not stopped. With --clear, each worker uses the numbers \
            of its own command line.
            """,
        group: "Coordinator",
        examples: ["darkroom limits --downloads 8", "darkroom limits", "darkroom limits --clear"])

    @Option(
        help: "Concurrent downloads of each worker, 1 to 1024.", valueName: "count",
        synonyms: Mistakes.namesOfParallelWork)
    var downloads: Int?
    @Option(
        help: "Concurrent filtrations of each worker, 1 to 256.", valueName: "count",
        synonyms: Mistakes.namesOfParallelWork)
    var filtrations: Int?
    @Flag(help: "Remove both limits.") var clear: Bool
    @Flag(help: "Print the facts of the cluster as JSON.") var json: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws {
        if clear, downloads != nil || filtrations != nil {
            throw ValidationError("--clear removes both limits: leave out --downloads and --filtrations")
        }
        try Self.require(ClusterControls.downloadLimits, downloads, "--downloads")
        try Self.require(ClusterControls.filtrationLimits, filtrations, "--filtrations")
    }

    func run() throws {
        let client = try redis.connect()
        if clear {
            try client.control.clearLimits()
        } else if downloads != nil || filtrations != nil {
            try client.control.setLimits(downloads: downloads, filtrations: filtrations)
        }
        let output = StandardOutput()
        if json { return try output.document(ClusterStatus(client).json(.commands)) }
        let limits = try client.control.limits()
        var sheet = FactSheet()
        sheet.add("downloads", limits.downloads.map(HumanText.count) ?? "no limit")
        sheet.add("filtrations", limits.filtrations.map(HumanText.count) ?? "no limit")
        if let suspended = limits.suspendedText { sheet.add("cluster", suspended) }
        try sheet.write(to: output)
    }

    private static func require(_ bounds: ClosedRange<Int>, _ value: Int?, _ option: String) throws(ValidationError) {
        guard let value, !bounds.contains(value) else { return }
        throw ValidationError(
            "\(option) \(value): from \(bounds.lowerBound) to \(bounds.upperBound); to start none, use "
                + "\"darkroom suspend --all \(option)\"")
    }
}
