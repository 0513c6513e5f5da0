import DarkroomStore
import Foundation

/// The facts that a worker reports with every heartbeat.
public struct WorkerStatus: Sendable, Equatable {
    /// The id, new with every start: `<host>-<process id>-<random>`.
    public let id: String
    /// The host name of the worker.
    public let host: String
    /// The process id of the worker.
    public let processID: Int
    /// The time of its last claim or heartbeat, by the clock of Redis.
    public let seen: Date
    /// Whether the worker sent a claim or heartbeat within the last 10 seconds. Other workers take over the work of a lost worker.
    public let isAlive: Bool
    /// The number of running downloads.
    public let downloading: Int
    /// The number of running filtrations.
    public let filtering: Int
    /// The number of photos that the worker has made final since its start.
    public let photos: Int
    /// Photos per second, averaged over the last 10 seconds.
    public let photosPerSecond: Int
    /// The first 16 operations that the worker has claimed, as `<batch id>/<number>`.
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
    /// A number that the worker reports; 0 if it is missing or out of bounds. The bounds leave room for the sum over all workers.
    package func number(_ field: String) -> Int {
        fields[field].flatMap { Int($0) }.flatMap { (0...(1 << 43)).contains($0) ? $0 : nil } ?? 0
    }

    /// The operations that the worker has claimed, as `<batch>/<operation>`, at most 16.
    package var operations: [String] { fields["operations"]?.split(separator: " ").map(String.init) ?? [] }
}
