import DarkroomStore
import Foundation

/// A worker as it describes itself with every heartbeat.
public struct WorkerStatus: Sendable, Equatable {
    /// The id, new with every start: `<host>-<process id>-<random>`.
    public let id: String
    /// The name of its host.
    public let host: String
    /// The id of its process.
    public let processID: Int
    /// When it was last heard of, by the clock of Redis.
    public let seen: Date
    /// Whether it was heard of within the last 10 seconds. Others take over the work of one that was not.
    public let isAlive: Bool
    /// Downloads that run.
    public let downloading: Int
    /// Filtrations that run.
    public let filtering: Int
    /// Photos that it has made final since its start.
    public let photos: Int
    /// Photos a second, averaged over the last 10 seconds.
    public let photosPerSecond: Int
    /// The first 16 operations that it holds, as `<batch id>/<number>`.
    public let operations: [String]

    /// - Parameter now: the Redis clock in ms since 1970.
    init(_ facts: WorkerFacts, now: Int) {
        id = facts.id
        host = facts.fields["host"] ?? ""
        processID = facts.number("pid")
        seen = Date(milliseconds: facts.seen)
        isAlive = facts.isLiving(now: now)
        downloading = facts.number("downloading")
        filtering = facts.number("filtering")
        photos = facts.number("photos")
        photosPerSecond = facts.number("rate")
        operations = facts.operations
    }
}

extension WorkerFacts {
    /// A number that the worker reports; 0 if it does not, or if the number is out of bounds. The bounds leave room for the sum
    /// over all workers.
    package func number(_ field: String) -> Int {
        fields[field].flatMap { Int($0) }.flatMap { (0...(1 << 43)).contains($0) ? $0 : nil } ?? 0
    }

    /// The operations that it holds, as `<batch>/<operation>`, at most 16.
    package var operations: [String] { fields["operations"]?.split(separator: " ").map(String.init) ?? [] }
}
