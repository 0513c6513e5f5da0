import Darkroom
import DarkroomStore

/// The data of one batch that its viewers get. Only the thread of the hub uses it.
struct WatchedBatch {
    /// The shortest time between two messages about the batch as a whole, unless its state or a control has changed.
    private static let shortest = Duration.milliseconds(500)

    private(set) var facts: BatchFacts
    private(set) var message: LiveMessage
    private var since: ContinuousClock.Instant
    /// The photos that workers run, according to their last heartbeats; nil if this is not known.
    private var running: [PhotoRanges]?
    private var windows: [Range<Int>: StateWindow] = [:]
    /// The messages of this turn, each for all viewers whose window has the same change.
    private var changes: [Change: [UInt8]] = [:]

    private struct Change: Hashable {
        let before: ObjectIdentifier?
        let after: ObjectIdentifier
    }

    init(_ facts: BatchFacts, now: Int, problems: BatchProblems) {
        self.facts = facts
        message = LiveMessage("batch", BatchTexts(batch: facts, now: now, problems: problems.of(facts)).facts)
        running = problems.running(of: facts.id)
        since = .now
    }

    /// Applies newer facts.
    mutating func update(_ newer: BatchFacts, now: Int, problems: BatchProblems) {
        let isUrgent =
            newer.state != facts.state || newer.controls != facts.controls || newer.counts.final == newer.photos
        let isDue = ContinuousClock.now - since >= Self.shortest
        guard isDue || (isUrgent && newer != facts) else {
            facts = newer
            return
        }
        facts = newer
        message = LiveMessage("batch", BatchTexts(batch: newer, now: now, problems: problems.of(newer)).facts)
        running = problems.running(of: newer.id)
        since = .now
    }

    /// Reads the states of the photos that the viewers see, each photo once. The photos of a damaged batch are not
    /// read.
    mutating func read(_ wanted: Set<Range<Int>>, in store: BatchStore) throws(StoreError) {
        var read: [Range<Int>: StateWindow] = [:]
        for group in Self.groups(of: wanted) {
            let union =
                facts.damage.isEmpty
                ? try StateWindow.read(group.union, of: facts, running: running, in: store)
                : StateWindow(first: group.union.lowerBound, codes: [])
            for range in group.ranges {
                let window = union.part(range)
                let known = windows[range]
                read[range] = known?.codes == window.codes && known?.first == window.first ? known : window
            }
        }
        windows = read
        changes = [:]
    }

    /// The photos of a window that was read.
    func window(_ range: Range<Int>) -> StateWindow? { windows[range] }

    /// The events for a viewer that has received `before`; empty if nothing has changed.
    mutating func changes(from before: StateWindow?, to after: StateWindow) -> [UInt8] {
        guard before !== after else { return [] }
        let change = Change(before: before.map(ObjectIdentifier.init), after: ObjectIdentifier(after))
        if let made = changes[change] { return made }
        let parts = before.map { after.changes(since: $0) } ?? [after]
        let made =
            parts.isEmpty
            ? [] : LiveMessage("states", ["photos": .int(facts.photos), "parts": .array(parts.map(\.json))]).bytes
        changes[change] = made
        return made
    }

    /// Joins ranges that overlap, as long as their union is at most ``StateWindow/mostPhotos``.
    private static func groups(of ranges: Set<Range<Int>>) -> [(union: Range<Int>, ranges: [Range<Int>])] {
        ranges.sorted { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }.reduce(into: []) {
            groups, range in
            if let last = groups.last, range.lowerBound <= last.union.upperBound {
                let union = last.union.lowerBound..<max(last.union.upperBound, range.upperBound)
                if union.count <= StateWindow.mostPhotos {
                    groups[groups.count - 1].union = union
                    groups[groups.count - 1].ranges.append(range)
                    return
                }
            }
            groups.append((range, [range]))
        }
    }
}
