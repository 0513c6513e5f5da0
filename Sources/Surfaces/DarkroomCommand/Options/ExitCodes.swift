import ArgumentParsing
import Darkroom

extension ExitCode {
    /// The batch has finished, and some of its photos have failed.
    static let photosFailed = ExitCode(3)
    static let cancelled = ExitCode(4)
    static let timedOut = ExitCode(124)
    static let interrupted = ExitCode(130)

    /// The exit status for a finished batch; `failure` if the batch is damaged in Redis.
    init(of batch: BatchFacts) {
        self =
            !batch.damage.isEmpty
            ? .failure : batch.cancelled ? .cancelled : batch.counts.failed > 0 ? .photosFailed : .success
    }
}
