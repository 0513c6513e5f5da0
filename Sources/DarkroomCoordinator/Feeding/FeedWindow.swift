import DarkroomStore

/// Decides which operations are sent next, from the replies of Redis.
///
/// Operations are sent in order, many at once, and Redis accepts them only in order. If one is refused, Redis refuses all
/// operations in flight after it. The window waits for these replies and continues with the first operation that Redis
/// does not have. After `FULL` the window sends one operation and doubles the number with every success, so a full Redis
/// costs one small call a poll.
struct FeedWindow {
    enum Action: Equatable {
        case send(ClosedRange<Int>)
        /// Wait for replies, if any are outstanding.
        case wait
        /// Redis accepts no operation at present: call ``resume()`` after a pause.
        case pause
        /// Read from Redis which operation it expects, and call ``redisExpects(_:)``.
        case query
        /// Redis has lost confirmed operations: read the list again from its beginning.
        case restart
        /// Redis refuses all further operations: the batch is gone, cancelled, sealed, or ended with a short operation.
        case fail(FeedReply)
    }

    /// Why sending has stopped. Redis refuses the operations in flight.
    private enum Setback { case full, lost, again, rolledBack, refused(FeedReply) }

    static let pipeline = 32
    static let most = 1024

    /// The last operation that Redis has.
    private(set) var confirmed: Int
    private var sent: Int
    private var inFlight = 0
    private var limit = Self.most
    private var setback: Setback?

    /// A window whose first operation to send follows `confirmed`.
    init(confirmed: Int) {
        self.confirmed = confirmed
        sent = confirmed
    }

    /// The next step, if the operations up to `packed` can be sent.
    /// - Parameter allowsPartial: true to send also fewer operations than fill a pipeline.
    mutating func next(packed: Int, allowsPartial: Bool) -> Action {
        if let setback {
            guard inFlight == 0 else { return .wait }
            switch setback {
            case .full: return .pause
            case .lost: return .query
            case .rolledBack: return .restart
            case .refused(let reply): return .fail(reply)
            case .again: resume()
            }
        }
        let wanted = min(Self.pipeline, limit)
        let count = min(wanted, limit - inFlight, packed - sent)
        guard count > 0, count == wanted || allowsPartial else { return .wait }
        let first = sent + 1
        sent += count
        inFlight += count
        return .send(first...sent)
    }

    /// Processes the reply to operation `number`.
    mutating func replied(_ reply: FeedReply, to number: Int) {
        inFlight -= 1
        guard setback == nil else { return }
        switch reply {
        case .fed:
            confirmed = max(confirmed, number)
            limit = min(limit * 2, Self.most)
        case .expects(let expected) where expected > number:  // Redis has this operation already
            confirmed = max(confirmed, expected - 1)
            sent = max(sent, confirmed)
        case .expects(let expected):
            setback = expected > confirmed ? .again : .rolledBack
        case .full:
            limit = 1
            setback = .full
        case .gone, .cancelled, .sealed, .short:
            setback = .refused(reply)
        }
    }

    /// Records that the connection was lost or Redis was not ready, so that operation `number` may have arrived or not.
    mutating func failed(_ number: Int) {
        inFlight -= 1
        switch setback {
        case nil, .full, .again: setback = .lost
        case .lost, .rolledBack, .refused: break
        }
    }

    mutating func resume() {
        setback = nil
        sent = confirmed
    }

    mutating func redisExpects(_ expected: Int) {
        if expected <= confirmed {
            setback = .rolledBack
        } else {
            confirmed = expected - 1
            resume()
        }
    }
}
