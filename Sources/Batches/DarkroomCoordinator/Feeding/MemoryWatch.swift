import DarkroomRedis
import DarkroomStore

/// Decides when to report two notices while Redis is out of memory. The first notice says that Redis is out of memory;
/// it is due even while Redis accepts single operations. The second says that waiting does not help, because no
/// operation is left whose end would free memory.
struct MemoryWatch {
    /// The action after Redis has refused a write.
    enum Action: Equatable {
        case reportFull
        /// Check whether operations are left whose end frees memory.
        case checkForWork
    }

    /// Redis counts as out of memory until it has refused no write for this time. A single accepted write is not
    /// sufficient: each operation that ends frees memory for one new operation.
    private static let quietPeriod = Duration.seconds(2)
    private static let checkInterval = Duration.seconds(10)

    private var lastRefusal: ContinuousClock.Instant?
    private var nextCheck = ContinuousClock.now
    private var hasReportedNoWork = false

    mutating func refused(_ now: ContinuousClock.Instant) -> Action? {
        defer { lastRefusal = now }
        guard lastRefusal != nil else {
            nextCheck = now + Self.checkInterval
            return .reportFull
        }
        guard nextCheck <= now, !hasReportedNoWork else { return nil }
        nextCheck = now + Self.checkInterval
        return .checkForWork
    }

    /// Records that no operation is left whose end would free memory.
    /// - Returns: true for the first call.
    mutating func foundNoWork() -> Bool {
        defer { hasReportedNoWork = true }
        return !hasReportedNoWork
    }

    /// Records an accepted write.
    /// - Returns: true if Redis no longer counts as out of memory.
    mutating func accepted(_ now: ContinuousClock.Instant) -> Bool {
        guard let lastRefusal, now - lastRefusal >= Self.quietPeriod else { return false }
        self = MemoryWatch()
        return true
    }
}

/// The memory limit of a Redis server, and the memory that it uses.
package struct RedisMemory: Sendable, Equatable, CustomStringConvertible {
    /// `used_memory` of INFO, in bytes.
    package let usedBytes: Int
    /// `maxmemory`, in bytes.
    package let limitBytes: Int

    /// Reads the values from Redis. Returns nil if the call fails or Redis has no memory limit.
    init?(of store: BatchStore) {
        // The values are needed only for a message, which omits them if Redis does not answer.
        guard case .success(let reply) = store.connection.call([RedisCommand("INFO", "memory")])[0] else { return nil }
        let information = ServerInformation(reply.string ?? "")
        guard let used = information.int("used_memory"), let limit = information.int("maxmemory"), limit > 0 else {
            return nil
        }
        usedBytes = used
        limitBytes = limit
    }

    /// The values in units of 2^20 bytes, called MB as in redis.conf.
    package var description: String {
        func megabytes(_ bytes: Int) -> String {
            let tenths = (bytes * 10 + (1 << 19)) >> 20
            return "\(tenths / 10).\(tenths % 10) MB"
        }
        return "\(megabytes(usedBytes)) used, maxmemory \(megabytes(limitBytes))"
    }
}
