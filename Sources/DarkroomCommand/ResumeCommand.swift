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
        let (redis, name) = try self.redis.resolving(what.batch)
        let client = try redis.connect()
        let batch = try name.map { try client.store.batch(named: $0) }
        var wasSuspended = false
        for part in what.parts where try client.control.resume(batch?.id, part) { wasSuspended = true }
        let subject = what.subject(batch?.label)
        let sentence =
            wasSuspended
            ? "\(subject) \(what.verb("goes", "go")) on" : "\(subject) \(what.verb("was", "were")) not suspended"
        let output = ControlOutput(client, redis, json: what.json)
        guard let batch else { return try output.write(sentence) }
        let resumed = try batch.refreshed(client)
        try output.write(sentence, resumed)
        try output.warn(of: resumed)
    }
}
