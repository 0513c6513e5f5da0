import DarkroomHosts
import DarkroomText

extension ClaimedOperation {
    /// The download attempts of photos, by the position of the photo in the operation, as an earlier worker stored them
    /// when it released the operation.
    package var retryHistories: (histories: [Int: RetryHistory], released: ContinuousClock.Instant) {
        let words = retries.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let passed = Int(words[0]), 0...RetryCoding.longestAge ~= passed else {
            return ([:], .now)
        }
        let released = ContinuousClock.now - .milliseconds(passed)
        return (RetryCoding.histories(in: words[1], released: released), released)
    }
}

/// The form in which Redis stores the download attempts of the photos of a released operation. The text contains a word
/// for each photo, separated by spaces: the position of the photo in the operation, the number of attempts, the number
/// and age of its failures, the number and age of the host's troubles, and the time until the next attempt:
/// `3:5:2:21000:0:0:14500`. Times are in ms, at the time of the release. In the reply to a claim, the ms since the
/// release and a space come first.
package enum RetryCoding {
    private static let mostAttempts = 1_000_000
    /// About a year, in ms.
    fileprivate static let longestAge = 31_600_000_000

    package static func text(of histories: [Int: RetryHistory], at now: ContinuousClock.Instant) -> String {
        let words = histories.sorted { $0.key < $1.key }.map { position, history in
            let series = [history.failures, history.troubles].flatMap { series in
                series.map { [$0.count, max(0, (now - $0.since).wholeMilliseconds)] } ?? [0, 0]
            }
            let wait = history.next.map { max(0, ($0 - now).wholeMilliseconds) } ?? 0
            return ([position, history.attempts] + series + [wait]).map(String.init).joined(separator: ":")
        }
        return words.joined(separator: " ")
    }

    /// Reads the text. Damaged words are skipped.
    static func histories(in text: Substring, released: ContinuousClock.Instant) -> [Int: RetryHistory] {
        var histories: [Int: RetryHistory] = [:]
        for word in text.split(separator: " ").prefix(BatchOptions.operationSizes.upperBound) {
            let numbers = word.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
            guard numbers.count == 7, numbers.allSatisfy({ 0...longestAge ~= $0 }),
                numbers[0] < BatchOptions.operationSizes.upperBound,
                [numbers[1], numbers[2], numbers[4]].allSatisfy({ $0 <= mostAttempts })
            else { continue }
            func series(_ count: Int, _ age: Int) -> RetryHistory.Failures? {
                count > 0 ? RetryHistory.Failures(since: released - .milliseconds(age), count: count) : nil
            }
            var history = RetryHistory()
            history.attempts = numbers[1]
            history.failures = series(numbers[2], numbers[3])
            history.troubles = series(numbers[4], numbers[5])
            if numbers[6] > 0 { history.next = released + min(.milliseconds(numbers[6]), Deferral.longest) }
            histories[numbers[0]] = history
        }
        return histories
    }
}
