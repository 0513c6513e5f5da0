import ArgumentParsing
import Darkroom

extension ExitCode {
    /// The batch finished, and some of its photos failed.
    static let photosFailed = ExitCode(3)
    /// The batch was cancelled.
    static let cancelled = ExitCode(4)
    /// The `--timeout` passed.
    static let timedOut = ExitCode(124)
    /// Interrupted by a signal.
    static let interrupted = ExitCode(130)

    /// The status that tells how a finished batch went.
    init(of batch: BatchFacts) {
        self = batch.cancelled ? .cancelled : batch.counts.failed > 0 ? .photosFailed : .success
    }
}
