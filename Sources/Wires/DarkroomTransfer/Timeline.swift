/// Elements in ascending order of their times. Elements with equal times stay in the order of addition. A plain value.
struct Timeline<Element> {
    private var entries: ArraySlice<(time: ContinuousClock.Instant, element: Element)> = []

    /// The earliest time; nil if there is no element.
    var nextTime: ContinuousClock.Instant? { entries.first?.time }

    mutating func add(_ element: Element, at time: ContinuousClock.Instant) {
        var (low, high) = (entries.startIndex, entries.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if entries[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        entries.insert((time, element), at: low)
    }

    /// Removes and returns the first element if its time is not after `now`.
    mutating func popDue(_ now: ContinuousClock.Instant) -> (time: ContinuousClock.Instant, element: Element)? {
        guard let first = entries.first, first.time <= now else { return nil }
        return entries.removeFirst()
    }
}
