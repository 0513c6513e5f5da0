import ArgumentParsing
import Darkroom

/// `darkroom resume`: resumes a suspended batch or the suspended cluster.
struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "resume", abstract: "Resume a suspended batch or the suspended cluster.",
        discussion: """
            Unless --downloads or --filtrations is given, both are resumed. While the cluster is suspended, a resumed \
            batch does not run. Downloaded photos are not downloaded again. Resuming a running batch is not an error.
            """,
        group: "Coordinator", synonyms: ["continue", "unpause", "unsuspend"],
        examples: ["darkroom resume holidays", "darkroom resume --all", "darkroom resume --all --downloads"])

    @OptionGroup var what: SuspensionArguments
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func run() throws {
        try what.run(redis, warns: true, change: { try $0.resume($1, $2) }) {
            $0 ? "\(what.verb("goes", "go")) on" : "\(what.verb("was", "were")) not suspended"
        }
    }
}
