import DarkroomModel

package struct DueWebhook: Sendable, Hashable {
    /// The member in the sorted set: `<batch id> <round>`.
    package let member: String
    /// The time at which the webhook became due: Redis time, in milliseconds since 1970.
    package let score: Int
    package let url: String
    /// The batch that has finished.
    package let batch: BatchID
    /// The number of this completion of the batch, counted from 1.
    package let round: Int

    /// Creates a webhook from its member, score and URL in Redis; nil if the member does not contain a batch id.
    package init?(member: String, score: Int, url: String) {
        let parts = member.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2, let batch = BatchID(String(parts[0])), let round = Int(parts[1]),
            StoredBounds.numbers.contains(round)
        else { return nil }
        self.batch = batch
        self.round = round
        self.member = member
        self.score = score
        self.url = url
    }
}
