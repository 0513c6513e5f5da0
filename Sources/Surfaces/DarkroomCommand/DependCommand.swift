import ArgumentParsing
import Darkroom
import DarkroomCoordinator

/// `darkroom depend`: makes a batch wait for other batches.
struct DependCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        name: "depend", abstract: "Make a batch wait until other batches have finished.",
        discussion: """
            The batch starts when all batches that it waits for have finished, even if one of these batches was \
            cancelled or had failed photos. A batch submitted with --after-success is then cancelled instead. A batch \
            that has started cannot be made to wait, and batches cannot depend on each other in a cycle.
            """,
        group: "Coordinator", synonyms: ["after"],
        examples: [
            "darkroom depend contact-sheet --on holidays",
            "darkroom depend contact-sheet --on holidays --remove",
        ])

    @Argument(help: "The batch that waits: its id, the beginning of its id, or its name.") var batch: String
    @Option(help: "A batch to wait for.", valueName: "batch") var on: [String]
    @Flag(help: "Remove the dependencies on these batches.") var remove: Bool
    @Flag(help: "Print the facts of the batch that waits as JSON.") var json: Bool
    @OptionGroup(title: "Redis options") var redis: RedisOptions

    func validate() throws {
        if on.isEmpty { throw ValidationError("name the batch to wait for: --on <batch>") }
    }

    func run() throws {
        let client = try redis.connect()
        let found = try client.store.batch(named: batch)
        let others = try client.batches(named: on)
        let ids = others.map(\.id)
        var sentence = "batch \(found.label) "
        if remove {
            let names = Self.list(others)
            sentence +=
                try client.control.removeDependency(found.id, on: ids)
                ? "no longer waits for \(names)" : "did not wait for \(names)"
        } else {
            sentence += Self.words(try client.control.depend(found.id, on: ids), others)
        }
        let batch = try found.refreshed(client)
        if remove, !batch.waitsFor.isEmpty {
            let rest = try client.store.facts(of: batch.waitsFor)
            sentence += "; it still waits for \(Self.list(rest))"
        }
        try ControlOutput(client: client, redis: redis, isJSON: json).write(sentence, batch)
    }

    private static func words(_ depended: Depended, _ others: [BatchFacts]) -> String {
        func list(_ ids: [BatchID]) -> String { Self.list(others.filter { ids.contains($0.id) }) }
        var parts: [String] = []
        if !depended.added.isEmpty { parts.append("waits for \(list(depended.added))") }
        if !depended.waitedBefore.isEmpty { parts.append("waited for \(list(depended.waitedBefore)) already") }
        if !depended.finishedBefore.isEmpty {
            parts.append("need not wait for \(list(depended.finishedBefore)): finished already")
        }
        if let other = depended.cancelledBy {
            parts.append("is cancelled: \(list([other])) did not succeed, and it was submitted with --after-success")
        }
        return parts.joined(separator: "; ")
    }

    private static func list(_ batches: [BatchFacts]) -> String { batches.map(\.label).joined(separator: ", ") }
}
