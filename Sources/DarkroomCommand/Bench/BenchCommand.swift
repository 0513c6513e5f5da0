import ArgumentParsing

/// `darkroom bench`: what this machine does, as ratios to what it could do.
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "bench", abstract: "Measure Darkroom on this machine.", group: "Monitor",
        examples: ["darkroom bench develop ~/Pictures", "darkroom bench dispatch"],
        subcommands: [
            BenchDevelopCommand.self, BenchDispatchCommand.self, BenchControlCommand.self, BenchServeCommand.self,
        ])
}
