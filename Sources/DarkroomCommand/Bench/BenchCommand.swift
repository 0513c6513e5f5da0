import ArgumentParsing

/// `darkroom bench`: what this machine does, as ratios to what it could do.
struct BenchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "bench", abstract: "Measure Darkroom on this machine.", group: "This machine", synonyms: ["benchmark"],
        examples: ["darkroom bench develop ~/Pictures", "darkroom bench dispatch"],
        subcommands: [
            BenchDevelopCommand.self, BenchDispatchCommand.self, BenchControlCommand.self, BenchServeCommand.self,
        ])
}
