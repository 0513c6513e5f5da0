/// A random number generator with a seed (SplitMix64, Steele, Lea and Flood 2014).
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Creates a generator. The same seed gives the same numbers.
    public init(seed: UInt64) { state = seed }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// True in `percent` of 100 cases.
    public mutating func chance(_ percent: Int) -> Bool { number(in: 0..<100) < percent }

    /// A random number in `range`.
    public mutating func number(in range: Range<Int>) -> Int { Int.random(in: range, using: &self) }

    /// A random element. `elements` must not be empty.
    public mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(in: 0..<elements.count)] }
}
