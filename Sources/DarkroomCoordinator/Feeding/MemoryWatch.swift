import DarkroomRedis
import DarkroomStore

/// Decides which notices a Redis without free memory causes: one that it is full, also if it accepts single operations
/// meanwhile, and one if no operation is left that would free memory.
struct MemoryWatch {
    /// The step after Redis has refused a write.
    enum Action: Equatable {
        case reportFull
        /// Check whether operations are left whose end would free memory.
        case checkForWork
    }

    /// Redis counts as full until it has refused nothing for this time. If workers are slow, every finished operation makes
    /// room for only one new operation.
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
    /// - Returns: true at the first call.
    mutating func foundNoWork() -> Bool {
        defer { hasReportedNoWork = true }
        return !hasReportedNoWork
    }

    /// Records an accepted write.
    /// - Returns: true if Redis no longer counts as full.
    mutating func accepted(_ now: ContinuousClock.Instant) -> Bool {
        guard let lastRefusal, now - lastRefusal >= Self.quietPeriod else { return false }
        self = MemoryWatch()
        return true
    }
}

/// The memory limit of a Redis and the memory that it uses.
package struct RedisMemory: Sendable, Equatable, CustomStringConvertible {
    /// `used_memory` of INFO, in bytes.
    package let usedBytes: Int
    /// `maxmemory`, in bytes.
    package let limitBytes: Int

    /// Reads the values from Redis; nil if the call fails or Redis has no limit.
    init?(of store: BatchStore) {
        // The values are only for a message, which omits them if Redis does not answer.
        guard case .success(let reply) = store.connection.call([RedisCommand("INFO", "memory")])[0] else { return nil }
        let information = ServerInformation(reply.string ?? "")
        guard let used = information.int("used_memory"), let limit = information.int("maxmemory"), limit > 0 else {
            return nil
        }
        usedBytes = used
        limitBytes = limit
    }

    /// In MB of 2^20 bytes, the unit of redis.conf.
    package var description: String {
        func megabytes(_ bytes: Int) -> String {
            let tenths = (bytes * 10 + (1 << 19)) >> 20
            return "\(tenths / 10).\(tenths % 10) MB"
        }
        return "\(megabytes(usedBytes)) used, maxmemory \(megabytes(limitBytes))"
    }
}
