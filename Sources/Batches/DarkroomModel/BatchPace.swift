/// The recent progress of a batch, which workers sample about every 3 s while photos of the batch run
/// (`sample_pace.lua`). Times without running photos, such as suspensions, are excluded.
package struct BatchPace: Sendable, Equatable {
    /// The time after which a batch without a sample counts as not executing. Workers send a heartbeat at least every
    /// 3 s, and a sample is due 2.5 s after the last one.
    package static let longestSilence = Duration.seconds(10)
    /// The shortest time of work from which a rate is computed, in milliseconds.
    private static let shortestWork = 2000

    /// The time of the last sample: Redis time, in milliseconds since 1970.
    package let time: Int
    /// The number of photos that were filtered or had failed at `time`.
    package let done: Int
    /// The total duration of the latest periods of work before `time`, in milliseconds, at most 60,000.
    package let worked: Int
    /// The number of photos that were filtered or failed in the periods of ``worked``.
    package let photos: Int

    /// Reads the field `pace` of a batch's hash: `<time> <done>`, then for each period `<milliseconds> <photos>`.
    /// Returns nil if the text is invalid.
    init?(_ text: String) {
        guard text.utf8.count <= 1000 else { return nil }
        let numbers = text.split(separator: " ").map {
            Int($0).flatMap { StoredBounds.numbers.contains($0) ? $0 : nil }
        }
        guard numbers.count >= 2, numbers.count % 2 == 0, !numbers.contains(nil) else { return nil }
        let valid = numbers.compactMap(\.self)
        let periods = stride(from: 2, to: valid.count, by: 2)
        let durations = periods.map { valid[$0] }
        let photos = periods.map { valid[$0 + 1] }
        guard durations.allSatisfy({ $0 <= 60_000 }), photos.allSatisfy(StoredBounds.photos.contains) else {
            return nil
        }
        time = valid[0]
        done = valid[1]
        worked = durations.reduce(0, +)
        self.photos = photos.reduce(0, +)
    }

    /// Whether photos of the batch run at `now`.
    func isActive(now: Int) -> Bool { now - time <= Self.longestSilence.wholeMilliseconds }

    /// The number of photos per second in the latest periods of work. Nil if these periods are too short.
    /// - Parameters:
    ///   - done: the number of photos that are done at `now`.
    ///   - isSuspended: whether the time since the last sample is a suspension.
    func photosPerSecond(now: Int, done: Int, isSuspended: Bool) -> Double? {
        var (worked, photos) = (worked, photos)
        if isActive(now: now), !isSuspended, now >= time, done >= self.done {
            worked += now - time
            photos += done - self.done
        }
        return worked < Self.shortestWork ? nil : Double(photos) * 1000 / Double(worked)
    }
}
