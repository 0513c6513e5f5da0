/// The photos of a list that a batch takes.
package enum PhotoSelection: Sendable, Equatable {
    case all
    /// The first photos of the list; the whole list if it has fewer photos.
    case first(Int)
    case sample(Sample)

    /// Photos at random. The same seed selects the same photos of the same list.
    package struct Sample: Sendable, Equatable, Codable, CustomStringConvertible {
        /// The number of photos; if the list has fewer photos, the sample is the whole list.
        package let photos: Int
        package let seed: Int

        package init(photos: Int, seed: Int) {
            self.photos = photos
            self.seed = seed
        }

        package var description: String { "\(photos) with the seed \(seed)" }
    }
}
