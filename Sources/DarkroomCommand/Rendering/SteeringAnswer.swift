import Darkroom
import DarkroomCoordinator

/// How commands that steer answer: with a sentence on standard output, or with the facts there as JSON and the sentence on
/// standard error.
struct SteeringAnswer {
    private let client: DarkroomClient
    private let redis: RedisOptions
    private let isJSON: Bool

    init(_ client: DarkroomClient, _ redis: RedisOptions, json isJSON: Bool) {
        self.client = client
        self.redis = redis
        self.isJSON = isJSON
    }

    /// Answers what became of a batch.
    /// - Parameter numbers: what the command counted, beside the facts.
    func give(_ sentence: String, _ batch: BatchFacts, _ numbers: [JSON.Member] = []) throws {
        try give(sentence) {
            let now = try client.store.time()
            return JSON(batch, now: now, problems: try client.store.problems(of: [batch], now: now).of(batch)).adding(
                numbers)
        }
    }

    /// Answers what became of the cluster.
    func give(_ sentence: String, _ numbers: [JSON.Member] = []) throws {
        try give(sentence) { try ClusterStatus(client, redis).json.adding(numbers) }
    }

    /// Says on standard error what hinders a batch now.
    func warn(of batch: BatchFacts) throws {
        for problem in try client.store.problems(of: [batch], now: try client.store.time()).of([batch]) {
            printToStandardError("warning: \(problem.naming(redis.run).sentence(among: [batch]))")
        }
    }

    /// Says on standard error that no replica has a change.
    @Sendable static func warn(of lack: ReplicaLack) { printToStandardError("warning: \(lack)") }

    private func give(_ sentence: String, json: () throws -> JSON) throws {
        let output = StandardOutput()
        guard isJSON else {
            try output.line(sentence)
            return try output.flush()
        }
        printToStandardError(sentence)
        try output.document(json())
    }
}
