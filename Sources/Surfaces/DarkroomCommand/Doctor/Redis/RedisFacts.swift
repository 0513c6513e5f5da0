import Darkroom
import DarkroomRedis
import Foundation

/// The settings and state of a Redis server, and its reply times.
struct RedisFacts {
    /// The reply to INFO.
    var information: ServerInformation
    /// Settings from CONFIG GET that INFO does not contain; empty if CONFIG GET is not allowed.
    var settings: [String: String] = [:]
    /// The duration of each PING.
    var pings: [Duration] = []
    /// The duration of each call of a small script, or the error of the call.
    var scripts: Result<[Duration], RedisError> = .success([])
    /// The clock of Redis minus the clock of this machine.
    var clockDifference = Duration.zero

    /// Reads the facts about the Redis server at `address`. Blocks.
    /// - Throws: ``RedisError`` if Redis is unreachable or does not allow these commands to this user.
    init(of address: RedisConfiguration) throws(RedisError) {
        // This connection does not load the scripts of Darkroom, because a server that is too old rejects them.
        let connection = RedisConnection(address)
        defer { connection.close() }
        information = ServerInformation(try connection.call(RedisCommand("INFO")).string ?? "")
        for name in ["appendfsync", "save"] {
            guard case .success(let reply) = connection.call([RedisCommand("CONFIG", "GET", name)])[0] else { continue }
            settings[name] = reply.array?.last?.string
        }
        pings = try Self.durations(200, of: RedisCommand("PING"), connection)
        do throws(RedisError) {
            scripts = .success(try Self.durations(50, of: RedisCommand("EVAL", "return 1", "0"), connection))
        } catch {
            scripts = .failure(error)
        }
        clockDifference = try Self.clockDifference(connection)
    }

    private static func durations(
        _ count: Int, of command: RedisCommand, _ connection: RedisConnection
    ) throws(RedisError) -> [Duration] {
        var durations: [Duration] = []
        for _ in 0..<count {
            let start = ContinuousClock.now
            _ = try connection.call(command)
            durations.append(.now - start)
        }
        return durations
    }

    /// Assumes that Redis reads its clock halfway between request and reply. Uses the fastest of several requests,
    /// because its possible error is the smallest.
    private static func clockDifference(_ connection: RedisConnection) throws(RedisError) -> Duration {
        var best: (took: Duration, difference: Duration)?
        for _ in 0..<5 {
            let asked = Date().timeIntervalSince1970
            let start = ContinuousClock.now
            let reply = try connection.call(RedisCommand("TIME")).array ?? []
            let took = ContinuousClock.now - start
            guard reply.count == 2, let seconds = reply[0].int, let micros = reply[1].int else { continue }
            let theirs = Duration.seconds(seconds) + .microseconds(micros)
            let difference = theirs - .seconds(asked) - took / 2
            if best.map({ took < $0.took }) ?? true { best = (took, difference) }
        }
        return best?.difference ?? .zero
    }
}

extension ContinuousClock.Instant {
    fileprivate static func - (left: Self, right: Self) -> Duration { right.duration(to: left) }
}
