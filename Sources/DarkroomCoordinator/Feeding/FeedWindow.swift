import DarkroomStore

/// Decides what is fed next: it is told what Redis answered and says what to do.
///
/// Operations are sent in order, many at once, and Redis takes them only in order. So whatever goes wrong with one, all
/// that is on its way behind it comes back refused: the window lets that pass and goes on from the first operation
/// that Redis does not have. After `FULL` it begins with one operation and doubles with every success, so a full window
/// costs one small call a poll.
struct FeedWindow {
    /// What the feeder is to do now.
    enum Action: Equatable {
        /// Send these operations in one pipeline.
        case send(ClosedRange<Int>)
        /// Wait until replies come, if any are due.
        case wait
        /// Redis takes no more for now: call ``resume()`` after a pause.
        case pause
        /// Ask Redis which operation it expects, and tell by ``redisExpects(_:)``.
        case ask
        /// Redis has lost operations that it had confirmed: read the list again from its beginning.
        case restart
        /// Redis refused an operation for good: the batch is gone, cancelled, sealed, or ended with a short operation.
        case give(up: FeedReply)
    }

    /// What came between; what is on its way is in vain.
    private enum Setback { case full, lost, again, rolledBack, refused(FeedReply) }

    /// The most operations of one pipeline.
    static let pipeline = 32
    /// The most operations on their way.
    static let most = 1024

    /// The last operation that Redis has.
    private(set) var confirmed: Int
    private var sent: Int
    private var onTheirWay = 0
    private var limit = Self.most
    private var setback: Setback?

    /// A window whose first operation to send follows `confirmed`.
    init(confirmed: Int) {
        self.confirmed = confirmed
        sent = confirmed
    }

    /// What to do, with operations up to `packed` there to be sent.
    /// - Parameter isUrgent: also send fewer than fill a pipeline.
    mutating func next(packed: Int, isUrgent: Bool) -> Action {
        if let setback {
            guard onTheirWay == 0 else { return .wait }
            switch setback {
            case .full: return .pause
            case .lost: return .ask
            case .rolledBack: return .restart
            case .refused(let reply): return .give(up: reply)
            case .again: resume()
            }
        }
        let wanted = min(Self.pipeline, limit)
        let count = min(wanted, limit - onTheirWay, packed - sent)
        guard count > 0, count == wanted || isUrgent else { return .wait }
        let first = sent + 1
        sent += count
        onTheirWay += count
        return .send(first...sent)
    }

    /// Takes the reply to operation `number`.
    mutating func replied(_ reply: FeedReply, to number: Int) {
        onTheirWay -= 1
        guard setback == nil else { return }
        switch reply {
        case .fed:
            confirmed = max(confirmed, number)
            limit = min(limit * 2, Self.most)
        case .expects(let expected) where expected > number:  // it has this one already
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

    /// Takes that nobody knows whether operation `number` arrived, because the connection was lost or Redis was not ready.
    mutating func failed(_ number: Int) {
        onTheirWay -= 1
        switch setback {
        case nil, .full, .again: setback = .lost
        case .lost, .rolledBack, .refused: break
        }
    }

    /// Goes on after a pause.
    mutating func resume() {
        setback = nil
        sent = confirmed
    }

    /// Takes which operation Redis expects, after it was asked.
    mutating func redisExpects(_ expected: Int) {
        if expected <= confirmed {
            setback = .rolledBack
        } else {
            confirmed = expected - 1
            resume()
        }
    }
}
