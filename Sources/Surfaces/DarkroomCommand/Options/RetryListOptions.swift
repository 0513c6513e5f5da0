import ArgumentParsing
import Darkroom

/// The photo list option of `darkroom retry`.
struct RetryListOptions: ParsableArguments {
    @Option(
        help: """
            The photo list of the batch. It is needed for failed photos whose names and URLs Redis no longer has; \
            Redis keeps the names and URLs for at most 10,000 operations with failed photos. A list that differs from \
            the submitted list is refused.
            """,
        valueName: "list")
    var list: String?

    /// If a list is given, uses it to restore the entries of the batch that are missing in Redis. Must be called before
    /// the retry.
    func restore(_ batch: BatchFacts, in client: DarkroomClient, _ reading: ListReadingOptions) throws {
        // The retry rejects a cancelled batch, so the list is not needed.
        guard let list, !batch.cancelled else { return }
        let photos = try reading.open(list, output: batch.options.output, reading.photoList(list).selection()) {
            printToStandardError($0)
        }
        let coordinator = client.coordinator { printToStandardError($0.description) }
        _ = try coordinator.restoreEntries(of: batch.id, from: photos)
    }
}
