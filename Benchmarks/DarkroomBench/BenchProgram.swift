import ArgumentParsing
import Darkroom

/// The program `darkroom-bench`: measures Darkroom on this machine, mostly as ratios to the best possible result.
struct BenchProgram: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "darkroom-bench", abstract: "Measure Darkroom on this machine.",
        examples: ["darkroom-bench develop ~/Pictures", "darkroom-bench dispatch"], version: darkroomVersion,
        subcommands: [
            DevelopCommand.self, DispatchCommand.self, ControlCommand.self, CustomFilterCommand.self,
            ServeCommand.self,
        ])
}
