import Darkroom
import DarkroomStore

/// The state of the cluster at one point in time.
struct WatchSnapshot: Sendable {
    struct Failure: Sendable, Equatable {
        let index: Int
        let name: String
        let reason: String
        let detail: String
    }

    /// The Redis time, in milliseconds since 1970.
    var now: Int
    /// The watched batch, or all batches in the order of their submission.
    var batches: [BatchFacts]
    /// The running workers.
    var workers: [WorkerFacts]
    var cluster = ClusterControls()
    /// Failures of the watched batch, the newest first, at most 100.
    var failures: [Failure] = []

    /// The run that the user has named by its output folder; nil if that run has no private Redis.
    var run: (batch: String, folder: String)?

    /// The words for remedies.
    var wording: RemedyWording { .commands(naming: run) }

    /// Finds the problems of the batches; nil if the problems must be derived from this snapshot alone.
    var finder: BatchProblems?

    /// The problems of the unfinished batches.
    var problems: [BatchProblem] {
        let finder = finder ?? BatchProblems(workers: workers, cluster: cluster, now: now, known: batches)
        return finder.of(batches)
    }
}

/// A request of the user, made with a key.
enum WatchRequest: Sendable, Equatable {
    /// Suspends a batch; nil means the cluster.
    case suspend(BatchID?)
    case resume(BatchID?)
    /// Cancels a batch; nil means every unfinished batch.
    case cancel(BatchID?)
}
