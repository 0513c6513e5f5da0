import ArgumentParsing
import Darkroom
import DarkroomCoordinator

/// `darkroom limits`: how much each worker does at once, while it runs.
struct LimitsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "limits", abstract: "Limit what each worker does at once, while it runs; show the limits.",
        discussion: """
            Without options it shows the limits that hold. A limit is the same for every worker, also for those that are started \
            later; what runs goes on. With --clear each worker does as much at once as it was started for.
            """,
        group: "Coordinator",
        examples: ["darkroom limits --downloads 8", "darkroom limits", "darkroom limits --clear"])

    @Option(help: "Downloads at once in each worker, 1 to 1024.", valueName: "count") var downloads: Int?
    @Option(help: "Photos filtered at once in each worker, 1 to 256.", valueName: "count") var filtrations: Int?
    @Flag(help: "Take both limits away.") var clear: Bool
    @Flag(help: "Print the facts of the cluster as JSON.") var json: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws {
        if clear, downloads != nil || filtrations != nil {
            throw ValidationError("--clear takes both limits away: leave out --downloads and --filtrations")
        }
        try Self.require(BatchController.downloadLimits, downloads, "--downloads")
        try Self.require(BatchController.filtrationLimits, filtrations, "--filtrations")
    }

    func run() throws {
        let client = try redis.connect()
        if clear {
            try client.control.clearLimits()
        } else if downloads != nil || filtrations != nil {
            try client.control.setLimits(downloads: downloads, filtrations: filtrations)
        }
        let output = StandardOutput()
        if json { return try output.document(ClusterStatus(client, redis).json) }
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
            "\(option) \(value): from \(bounds.lowerBound) to \(bounds.upperBound); \"darkroom suspend --all \(option)\" lets none begin"
        )
    }
}
