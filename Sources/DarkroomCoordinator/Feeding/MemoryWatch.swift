import DarkroomRedis
import DarkroomStore

/// Decides what is said of a Redis that has no memory left: that it is full once, also when single operations find room
/// meanwhile, and once that nothing will free memory.
struct MemoryWatch {
    /// What is to be done when Redis has refused something.
    enum Action: Equatable {
        /// Say that it is full.
        case tell
        /// Look whether operations are left whose end would free memory.
        case lookForWork
    }

    /// It is over when nothing was refused for so long: where workers drain slowly, every operation that ends makes room
    /// for one.
    private static let isOverAfter = Duration.seconds(2)
    private static let looksEvery = Duration.seconds(10)

    private var lastRefusal: ContinuousClock.Instant?
    private var nextLook = ContinuousClock.now
    private var hasToldOfNoWork = false

    /// Takes that Redis has refused something.
    mutating func refused(_ now: ContinuousClock.Instant) -> Action? {
        defer { lastRefusal = now }
        guard lastRefusal != nil else {
            nextLook = now + Self.looksEvery
            return .tell
        }
        guard nextLook <= now, !hasToldOfNoWork else { return nil }
        nextLook = now + Self.looksEvery
        return .lookForWork
    }

    /// Takes that nothing is left whose end would free memory.
    /// - Returns: whether that is news.
    mutating func foundNoWork() -> Bool {
        defer { hasToldOfNoWork = true }
        return !hasToldOfNoWork
    }

    /// Takes that Redis has accepted something.
    /// - Returns: whether memory is no hindrance any more.
    mutating func accepted(_ now: ContinuousClock.Instant) -> Bool {
        guard let lastRefusal, now - lastRefusal >= Self.isOverAfter else { return false }
        self = MemoryWatch()
        return true
    }
}

/// How much memory a Redis with a limit has and uses.
package struct RedisMemory: Sendable, Equatable, CustomStringConvertible {
    /// `used_memory` of INFO, in bytes.
    package let usedBytes: Int
    /// `maxmemory`, in bytes.
    package let limitBytes: Int

    /// Asks a Redis; nil when it does not say, or has no limit.
    init?(of store: BatchStore) {
        // It is only for a message: while Redis does not answer, the message does without.
        guard case .success(let reply) = store.connection.call([RedisCommand("INFO", "memory")])[0] else { return nil }
        let information = ServerInformation(reply.string ?? "")
        guard let used = information.int("used_memory"), let limit = information.int("maxmemory"), limit > 0 else {
            return nil
        }
        usedBytes = used
        limitBytes = limit
    }

    /// In MB, as redis.conf counts them.
    package var description: String {
        func megabytes(_ bytes: Int) -> String {
            let tenths = (bytes * 10 + (1 << 19)) >> 20
            return "\(tenths / 10).\(tenths % 10) MB"
        }
        return "\(megabytes(usedBytes)) used, maxmemory \(megabytes(limitBytes))"
    }
}
