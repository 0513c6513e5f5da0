import DarkroomModel

package struct DueWebhook: Sendable, Hashable {
    /// `<batch id> <round>`.
    package let member: String
    /// When it was due, in ms since 1970 of the Redis clock.
    package let score: Int
    package let url: String
    /// The batch that has finished.
    package let batch: BatchID
    /// Which completion of the batch this is, counted from 1.
    package let round: Int

    /// A webhook as Redis lists it; nil if the member names no batch.
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
