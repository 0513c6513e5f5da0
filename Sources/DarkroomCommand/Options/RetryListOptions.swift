import ArgumentParsing
import Darkroom

/// The list that `darkroom retry` may read again.
struct RetryListOptions: ParsableArguments {
    @Option(
        help: """
            The batch's photo list, to be read again for failed photos whose names and URLs Redis has not kept: it keeps \
            those of 10,000 operations with failed photos. A list that differs is refused.
            """,
        valueName: "list")
    var list: String?

    /// Reads the list, if one was given, and restores what Redis has not kept of the batch; to be called before the retry.
    func restore(_ batch: BatchFacts, in client: DarkroomClient, _ reading: ListReadingOptions) throws {
        // A cancelled batch is refused by the retry, whatever its list.
        guard let list, !batch.cancelled else { return }
        let reader = try reading.open(list, output: batch.options.output) { printToStandardError($0) }
        let coordinator = client.coordinator { printToStandardError($0.description) }
        _ = try coordinator.restoreEntries(of: batch.id, from: reader)
    }
}
