import DarkroomStore
import Foundation

/// The facts that a worker reports about itself with every heartbeat.
public struct WorkerStatus: Sendable, Equatable {
    /// The id of the worker, `<host>-<process id>-<random>`. Each start of a worker creates a new id.
    public let id: String
    /// The host name of the worker.
    public let host: String
    /// The process id of the worker.
    public let processID: Int
    /// The time of the last claim or heartbeat (Redis time).
    public let seen: Date
    /// Whether the worker sent a claim or heartbeat within the last 10 seconds, or within 2.5 times the interval that
    /// it has announced (at most 30 seconds). Otherwise the worker counts as lost.
    public let isAlive: Bool
    /// The number of running downloads.
    public let downloading: Int
    /// The number of running filtrations.
    public let filtering: Int
    /// The number of photos that have become final in this worker since it started.
    public let photos: Int
    /// The number of photos per second, averaged over the last 10 seconds.
    public let photosPerSecond: Int
    /// The operations that the worker has claimed, as `<batch id>/<number>`, at most 16.
    public let operations: [String]

    /// - Parameter now: Redis time, in milliseconds since 1970.
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
    /// A number that the worker reports; 0 if it is missing or if it is so large that a sum over all workers may
    /// overflow.
    package func number(_ field: String) -> Int {
        fields[field].flatMap { Int($0) }.flatMap { (0...(1 << 43)).contains($0) ? $0 : nil } ?? 0
    }

    /// The operations that the worker has claimed, as `<batch>/<operation>`, at most 16.
    package var operations: [String] { fields["operations"]?.split(separator: " ").prefix(16).map(String.init) ?? [] }
}
