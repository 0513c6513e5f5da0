import FuzzSupport

/// The random choices of a model run. The same seed gives the same choices.
struct ModelRandom: RandomNumberGenerator {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next() -> UInt64 { generator.next() }

    /// True in `percent` of 100 cases.
    mutating func chance(_ percent: Int) -> Bool { generator.chance(percent) }

    /// A random element, or nil if `elements` is empty.
    mutating func pick<Element>(_ elements: [Element]) -> Element? { elements.randomElement(using: &generator) }
}
