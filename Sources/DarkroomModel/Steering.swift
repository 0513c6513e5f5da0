/// What holds for a batch while it runs: flags, priority and focus, which users change at any time.
public struct Steering: Sendable, Equatable {
    /// The photos that are to run first.
    public struct Focus: Sendable, Equatable {
        /// Indexes from 0; some may not be fed yet.
        public var photos: ClosedRange<Int>
        /// True when operations that do not touch the range are not to run at all.
        public var only: Bool

        /// A focus on a range of photos.
        public init(_ photos: ClosedRange<Int>, only: Bool = false) {
            self.photos = photos
            self.only = only
        }
    }

    /// How urgent the batch is now.
    public var priority = Priority.normal
    /// True when what is not final will never run.
    public var isCancelled = false
    /// True while nothing of it may begin.
    public var isSuspended = false
    /// True while no download of it may begin.
    public var areDownloadsSuspended = false
    /// True while no filtration of it may begin.
    public var areFiltrationsSuspended = false
    /// The photos that run first; nil when none do.
    public var focus: Focus?

    /// Nothing special.
    public init() {}

    /// Reads what the scripts write (`steering.lua`): `rank,flags,first,last`, as `2,so,40,60`; nil when it is nothing of theirs.
    public init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 4, let rank = Int(parts[0]),
            let priority = Priority.allCases.first(where: { $0.rank == rank })
        else { return nil }
        self.priority = priority
        isCancelled = parts[1].contains("c")
        isSuspended = parts[1].contains("s")
        areDownloadsSuspended = parts[1].contains("d")
        areFiltrationsSuspended = parts[1].contains("f")
        if let first = Int(parts[2]), let last = Int(parts[3]), first <= last {
            focus = Focus(first...last, only: parts[1].contains("o"))
        }
    }

    /// The steering that the fields of a batch's hash hold.
    init(fields: [String: String]) {
        priority = fields["priority"].flatMap(Priority.init(rawValue:)) ?? .normal
        isCancelled = fields["flag.cancelled"] == "1"
        isSuspended = fields["flag.suspended"] == "1"
        areDownloadsSuspended = fields["flag.downloads.suspended"] == "1"
        areFiltrationsSuspended = fields["flag.filtrations.suspended"] == "1"
        if let first = fields["focus.first"].flatMap({ Int($0) }), let last = fields["focus.last"].flatMap({ Int($0) }),
            first <= last
        {
            focus = Focus(first...last, only: fields["focus.only"] == "1")
        }
    }
}

/// What holds for the whole cluster while it runs.
public struct ClusterSteering: Sendable, Equatable {
    /// True while nothing may begin anywhere.
    public var isSuspended = false
    /// True while no download may begin.
    public var areDownloadsSuspended = false
    /// True while no filtration may begin.
    public var areFiltrationsSuspended = false
    /// Downloads at once of every worker; nil leaves it to each.
    public var downloads: Int?
    /// Filtrations at once of every worker; nil leaves it to each.
    public var filtrations: Int?

    /// Nothing special.
    public init() {}

    /// Reads what the scripts write (`cluster.lua`): `flags,downloads,filtrations`, as `s,16,`; nil when it is nothing of theirs.
    public init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        isSuspended = parts[0].contains("s")
        areDownloadsSuspended = parts[0].contains("d")
        areFiltrationsSuspended = parts[0].contains("f")
        downloads = Int(parts[1])
        filtrations = Int(parts[2])
    }
}

/// What of the work is suspended or resumed.
public enum QueuePart: String, Sendable, CaseIterable, Codable {
    /// Downloads and filtrations.
    case everything
    /// Downloads alone: what is downloaded is still filtered.
    case downloads
    /// Filtrations alone: downloads go on until workers hold as many bytes as they may.
    case filtrations
}
