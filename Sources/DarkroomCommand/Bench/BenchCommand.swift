import ArgumentParsing

/// `darkroom bench`: what this machine does, as ratios to what it could do.
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "bench", abstract: "Measure Darkroom on this machine.", group: "Monitor",
        subcommands: [BenchDevelopCommand.self, BenchDispatchCommand.self, BenchServeCommand.self])
}
