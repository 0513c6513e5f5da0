import DarkroomStore

/// Decides from the replies of Redis which operations are sent next.
///
/// The window sends operations in order, many of them before the first reply. Redis accepts operations only in order.
/// If an operation is refused, Redis refuses all operations in flight after it. The window waits for these replies, and
/// continues with the first operation that Redis does not have yet. The reply `FULL` means that the feed window of
/// the batch is full, or that Redis is out of memory. After it, the window sends only one operation, and doubles this
/// number after every success. Therefore a retry while Redis accepts nothing costs only one small call.
struct FeedWindow {
    enum Action: Equatable {
        case send(ClosedRange<Int>)
        /// Wait for replies, if operations are in flight.
        case wait
        /// Redis does not accept operations at present: call ``resume()`` after a pause.
        case pause
        /// Ask Redis which operation it expects next, and call ``redisExpects(_:)``.
        case query
        /// Redis has lost confirmed operations: read the list again from its beginning.
        case restart
        /// Redis refuses all further operations: the batch is gone, cancelled or sealed, or its last operation is not
        /// full.
        case fail(FeedReply)
    }

    /// The reason why sending has stopped. Redis also refuses the operations that are in flight.
    private enum Setback { case full, lost, again, rolledBack, refused(FeedReply) }

    static let pipeline = 32
    static let most = 1024

    /// The number of the last operation that Redis has.
    private(set) var confirmed: Int
    private var sent: Int
    private var inFlight = 0
    private var limit = Self.most
    private var setback: Setback?

    /// The number of unconfirmed operations that the feeder may hold. It is small after the reply `FULL`, so that a feeder
    /// that waits for its window needs little memory.
    var mostKept: Int { min(Self.most, max(2 * limit, 2 * Self.pipeline)) }

    /// Creates a window that begins with the operation after `confirmed`.
    init(confirmed: Int) {
        self.confirmed = confirmed
        sent = confirmed
    }

    /// The next step. The operations up to number `packed` exist and can be sent.
    /// - Parameter allowsPartial: whether operations may be sent even if they do not fill a pipeline.
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
        case .expects(let expected) where expected > number:  // Redis already has this operation
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

    /// Records that the connection was lost or Redis was not ready: operation `number` may or may not have arrived.
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
