import Darkroom
import DarkroomCoordinator

/// The output of control commands: a sentence on standard output, or with `--json` the facts on standard output and the
/// sentence on standard error.
struct ControlOutput {
    let client: DarkroomClient
    let redis: RedisOptions
    let isJSON: Bool

    /// Writes the result for a batch.
    /// - Parameter numbers: Counts that are added to the JSON facts.
    func write(_ sentence: String, _ batch: BatchFacts, _ numbers: JSON = [:]) throws {
        try write(sentence) {
            let now = try client.store.time()
            let problems = try client.store.problems(of: [batch], now: now).of(batch)
            return JSON(batch, now: now, problems: problems, wording).adding(numbers)
        }
    }

    /// Writes the result for the cluster.
    func write(_ sentence: String, _ numbers: JSON = [:]) throws {
        try write(sentence) { try ClusterStatus(client).json(wording).adding(numbers) }
    }

    /// Prints the problems of a batch to standard error.
    func warn(of batch: BatchFacts) throws {
        for problem in try client.store.problems(of: [batch], now: try client.store.time()).of([batch]) {
            printToStandardError("warning: \(problem.sentence(among: [batch], wording))")
        }
    }

    /// Prints to standard error that too few replicas have confirmed a change.
    @Sendable static func warn(of lack: ReplicaLack) {
        printToStandardError("warning: " + RemedyWording.commands.text(lack))
    }

    private var wording: RemedyWording { .commands(naming: redis.run) }

    private func write(_ sentence: String, json: () throws -> JSON) throws {
        let output = StandardOutput()
        guard isJSON else {
            try output.line(sentence)
            return try output.flush()
        }
        printToStandardError(sentence)
        try output.document(json())
    }
}
