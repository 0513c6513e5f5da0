import DarkroomConcurrency
import DarkroomModel

/// The photos of which no thumbnail could be made. They are not decoded again at each visit of a page.
final class ThumbnailFailures: Sendable {
    private struct State {
        var problems: [String: (problem: Problem, until: ContinuousClock.Instant?)] = [:]
        /// The versions in the order in which they were noted.
        var order: [String] = []
    }

    private static let most = 10_000
    /// The time for which a failure counts if something other than the photo may be the cause.
    private static let doubt = Duration.seconds(600)

    private let state = Locked(State())

    /// The failure of this version of a photo; nil if there is none.
    subscript(version: String) -> Problem? {
        state.withLock { state in
            guard let known = state.problems[version] else { return nil }
            if let until = known.until, .now > until { return nil }
            return known.problem
        }
    }

    /// - Parameter reason: why the photo was not decoded; nil if it was cancelled.
    func note(_ problem: Problem, of version: String, _ reason: FailureReason?) {
        // With the reason `other`, the photo is not the cause: for example, no helper process starts.
        guard let reason, reason != .other else { return }
        let isCertain = [.notAnImage, .unsupportedFormat, .damaged, .tooManyPixels].contains(reason)
        state.withLock { state in
            if state.problems[version] == nil { state.order.append(version) }
            state.problems[version] = (problem, isCertain ? nil : .now + Self.doubt)
            guard state.order.count > Self.most else { return }
            // Removes a tenth at a time, since removing the first elements moves all others.
            for old in state.order.prefix(Self.most / 10) { state.problems[old] = nil }
            state.order.removeFirst(Self.most / 10)
        }
    }
}
