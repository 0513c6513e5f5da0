import Darkroom
import DarkroomStore

/// What was read of a queue at one moment.
struct WatchSnapshot: Sendable {
    /// A photo that failed.
    struct Failure: Sendable, Equatable {
        let index: Int
        let name: String
        let reason: String
        let detail: String
    }

    /// In ms of the Redis clock.
    var now: Int
    /// The batch that is watched, or all, earliest submission first.
    var batches: [BatchFacts]
    /// The workers that live.
    var workers: [WorkerFacts]
    /// What holds for all of them.
    var cluster = ClusterControls()
    /// Failures of the batch that is watched, the newest first, as many as a terminal may show.
    var failures: [Failure] = []

    /// What hinders the batches that have not finished.
    var problems: [BatchProblem] {
        BatchProblems(workers: workers, cluster: cluster, now: now, known: batches).of(batches)
    }
}

/// What a user asks for with a key.
enum WatchRequest: Sendable, Equatable {
    /// Nil is the cluster.
    case suspend(BatchID?)
    case resume(BatchID?)
    /// Nil is every batch that has not finished.
    case cancel(BatchID?)
}
