/// The settings of a batch that users can change at any time: flags, priority and focus.
public struct BatchControls: Sendable, Equatable {
    /// A range of photos that run before the other photos of their batch.
    public struct Focus: Sendable, Equatable {
        /// The indexes of the photos, from 0. The range may include photos that are not fed yet.
        public let photos: ClosedRange<Int>
        /// True if operations without a photo in the focus wait. In the other operations, the photos in the focus run
        /// first.
        public let only: Bool

        package init(_ photos: ClosedRange<Int>, only: Bool = false) {
            self.photos = photos
            self.only = only
        }
    }

    /// The current priority.
    public package(set) var priority = BatchPriority.normal
    /// True if the batch is cancelled. Its photos that are not final will never run.
    public package(set) var isCancelled = false
    /// True while no download or filtration of the batch may start.
    public package(set) var isSuspended = false
    /// True while no download of the batch may start.
    public package(set) var areDownloadsSuspended = false
    /// True while no filtration of the batch may start.
    public package(set) var areFiltrationsSuspended = false
    /// The photos that run first; nil if there is no focus.
    public package(set) var focus: Focus?

    package init() {}

    /// Reads the text that the scripts write (`batch_controls.lua`): `rank,flags,first,last`, for example `2,so,40,60`.
    /// Returns nil if the text is invalid.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 4, let rank = Int(parts[0]),
            let priority = BatchPriority.allCases.first(where: { $0.rank == rank })
        else { return nil }
        self.priority = priority
        isCancelled = parts[1].contains("c")
        isSuspended = parts[1].contains("s")
        areDownloadsSuspended = parts[1].contains("d")
        areFiltrationsSuspended = parts[1].contains("f")
        focus = Focus(first: Int(parts[2]), last: Int(parts[3]), only: parts[1].contains("o"))
    }

    /// Reads the other controls from the fields of a batch's hash; `fields` records damaged values.
    init(priority: BatchPriority, _ fields: inout StoredFields) {
        self.priority = priority
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
    /// Creates a focus from values in Redis; nil if there is no focus, or if it is out of bounds.
    init?(first: Int?, last: Int?, only: Bool) {
        guard let first, let last, first <= last, StoredBounds.indexes.contains(first),
            StoredBounds.indexes.contains(last)
        else { return nil }
        self.init(first...last, only: only)
    }
}
