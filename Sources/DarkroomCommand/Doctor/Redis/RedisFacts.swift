import Darkroom
import DarkroomRedis
import Foundation

/// What a Redis tells of itself, and how fast it answers.
struct RedisFacts {
    /// INFO.
    var information: ServerInformation
    /// CONFIG GET of what INFO leaves out; empty when that is not allowed.
    var settings: [String: String] = [:]
    /// How long each PING took.
    var pings: [Duration] = []
    /// How long each call of a small script took, or why none can be called.
    var scripts: Result<[Duration], RedisError> = .success([])
    /// By how much the clock of Redis is ahead of this machine's.
    var clockDifference = Duration.zero

    /// Asks the Redis at `address`; blocks.
    /// - Throws: when it cannot be reached, or does not let this user ask.
    init(of address: RedisConfiguration) throws(RedisError) {
        // Without scripts of its own: a Redis that is too old cannot load them.
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

    /// Redis read its clock halfway between asking and hearing, nearly; the fastest of some is the nearest.
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
