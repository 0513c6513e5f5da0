import DarkroomHosts
import DarkroomText

extension ClaimedOperation {
    /// What an earlier worker knew about the attempts to download photos, by the position of the photo in the operation.
    package var retryHistories: [Int: RetryHistory] {
        let words = retries.split(separator: " ", maxSplits: 1)
        guard words.count == 2, let passed = Int(words[0]), passed >= 0 else { return [:] }
        return RetryCoding.retries(in: words[1], passed: .milliseconds(passed), at: .now)
    }
}

/// The text in Redis of what a worker knew about the attempts to download the photos of an operation when it released the
/// operation. A word for each photo, separated by spaces: the position of the photo in the operation, the number of
/// attempts, the number and age of its failures, the number and age of the host's troubles, and how long it waits:
/// `3:5:2:21000:0:0:14500`. Ages and waits are in ms at the time of the release. In the reply to a claim, the ms since the
/// release and a space come first.
enum RetryCoding {
    /// The largest number of photos of an operation.
    private static let mostPhotos = 1000
    private static let mostAttempts = 1_000_000
    /// About a year.
    private static let longestAge = 31_600_000_000

    static func text(of retries: [Int: RetryHistory], at now: ContinuousClock.Instant) -> String {
        let words = retries.sorted { $0.key < $1.key }.map { position, history in
            let series = [history.failures, history.troubles].flatMap { failures in
                failures.map { [$0.count, max(0, (now - $0.since).wholeMilliseconds)] } ?? [0, 0]
            }
            let wait = history.next.map { max(0, ($0 - now).wholeMilliseconds) } ?? 0
            return ([position, history.attempts] + series + [wait]).map(String.init).joined(separator: ":")
        }
        return words.joined(separator: " ")
    }

    /// Reads the text. Words that are damaged are skipped.
    /// - Parameter passed: the time since the release.
    static func retries(
        in text: Substring, passed: Duration, at now: ContinuousClock.Instant
    ) -> [Int: RetryHistory] {
        var retries: [Int: RetryHistory] = [:]
        for word in text.split(separator: " ").prefix(mostPhotos) {
            let numbers = word.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
            guard numbers.count == 7, numbers.allSatisfy({ 0...longestAge ~= $0 }), numbers[0] < mostPhotos,
                [numbers[1], numbers[2], numbers[4]].allSatisfy({ $0 <= mostAttempts })
            else { continue }
            let released = now - passed
            func series(_ count: Int, _ age: Int) -> RetryHistory.Failures? {
                count > 0 ? RetryHistory.Failures(since: released - .milliseconds(age), count: count) : nil
            }
            var history = RetryHistory()
            history.attempts = numbers[1]
            history.failures = series(numbers[2], numbers[3])
            history.troubles = series(numbers[4], numbers[5])
            if numbers[6] > 0 { history.next = released + min(.milliseconds(numbers[6]), BatchStore.longestDeferral) }
            retries[numbers[0]] = history
        }
        return retries
    }
}
