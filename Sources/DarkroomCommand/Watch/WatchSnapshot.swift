import Darkroom
import DarkroomStore

/// The state of a queue at one time.
struct WatchSnapshot: Sendable {
    struct Failure: Sendable, Equatable {
        let index: Int
        let name: String
        let reason: String
        let detail: String
    }

    /// In ms of the Redis clock.
    var now: Int
    /// The watched batch, or all batches in the order of their submission.
    var batches: [BatchFacts]
    /// The running workers.
    var workers: [WorkerFacts]
    var cluster = ClusterControls()
    /// Failures of the watched batch, the newest first, at most 100.
    var failures: [Failure] = []

    /// The problems of the unfinished batches.
    var problems: [BatchProblem] {
        BatchProblems(workers: workers, cluster: cluster, now: now, known: batches).of(batches)
    }
}

/// A request of the user, made with a key.
enum WatchRequest: Sendable, Equatable {
    /// Nil means the cluster.
    case suspend(BatchID?)
    case resume(BatchID?)
    /// Nil means every unfinished batch.
    case cancel(BatchID?)
}
