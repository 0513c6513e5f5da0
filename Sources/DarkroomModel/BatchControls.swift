/// What holds for a batch while it runs: flags, priority and focus, which users change at any time.
public struct BatchControls: Sendable, Equatable {
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

    /// Reads what the scripts write (`batch_controls.lua`): `rank,flags,first,last`, as `2,so,40,60`; nil when it is nothing of theirs.
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
        focus = Focus(first: Int(parts[2]), last: Int(parts[3]), only: parts[1].contains("o"))
    }

    /// The steering that the fields of a batch's hash hold; `fields` notes what is damaged.
    init(_ fields: inout StoredFields) {
        priority = fields.word("priority") ?? .normal
        isCancelled = fields.isSet("flag.cancelled")
        isSuspended = fields.isSet("flag.suspended")
        areDownloadsSuspended = fields.isSet("flag.downloads.suspended")
        areFiltrationsSuspended = fields.isSet("flag.filtrations.suspended")
        let first = fields.optionalNumber("focus.first", in: StoredBounds.indexes)
        let last = fields.optionalNumber("focus.last", in: StoredBounds.indexes)
        focus = Focus(first: first, last: last, only: fields.isSet("focus.only"))
    }
}

extension BatchControls.Focus {
    /// A focus as Redis has it; nil when it is none, or out of bounds.
    init?(first: Int?, last: Int?, only: Bool) {
        guard let first, let last, first <= last, StoredBounds.indexes.contains(first),
            StoredBounds.indexes.contains(last)
        else { return nil }
        self.init(first...last, only: only)
    }
}
