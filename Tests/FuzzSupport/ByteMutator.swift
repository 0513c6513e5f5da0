/// Damages bytes to find faults in decoders: changes bits, lengths and counts, and removes, repeats and mixes pieces.
public struct ByteMutator {
    /// The source of random choices.
    public var generator: SeededGenerator

    /// Creates a mutator. Equal generators give equal mutations.
    public init(_ generator: SeededGenerator) { self.generator = generator }

    private static let numbers: [UInt32] = [
        0, 1, 2, 4, 7, 8, 0x10, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000,
        0xFFFF_FFFE, 0xFFFF_FFFF,
    ]

    /// Returns `bytes` with one to eight random changes. Some of them overwrite bytes with a part of `other`.
    public mutating func mutate(_ bytes: [UInt8], with other: [UInt8] = []) -> [UInt8] {
        var mutated = bytes
        for _ in 0..<(1 << generator.number(in: 0..<4)) where !mutated.isEmpty { change(&mutated, with: other) }
        return mutated
    }

    private mutating func change(_ bytes: inout [UInt8], with other: [UInt8]) {
        let place = position(bytes.count)
        switch generator.number(in: 0..<12) {
        case 0...2: bytes[place] ^= 1 << UInt8(generator.number(in: 0..<8))
        case 3, 4: bytes[place] = UInt8(generator.number(in: 0..<256))
        case 5...7: overwrite(&bytes, at: place, with: number())
        case 8: bytes.removeSubrange(piece(of: bytes.count, from: place))
        case 9:
            let piece = Array(bytes[piece(of: bytes.count, from: place)])
            bytes.insert(contentsOf: piece, at: position(bytes.count))
        case 10:
            guard !other.isEmpty else { return }
            overwrite(&bytes, at: place, with: Array(other[piece(of: other.count, from: position(other.count))]))
        default:
            if generator.chance(30) { bytes.removeLast(bytes.count - place) }
        }
    }

    /// A random position. Half of the positions are near the start or the end, where formats have their numbers.
    private mutating func position(_ count: Int) -> Int {
        switch generator.number(in: 0..<8) {
        case 0...2: generator.number(in: 0..<min(count, 128))
        case 3: count - 1 - generator.number(in: 0..<min(count, 200))
        default: generator.number(in: 0..<count)
        }
    }

    private mutating func piece(of count: Int, from start: Int) -> Range<Int> {
        start..<min(count, start + 1 + generator.number(in: 0..<(1 << generator.number(in: 1..<9))))
    }

    private mutating func number() -> [UInt8] {
        let value = generator.pick(Self.numbers) &+ UInt32(generator.chance(20) ? generator.number(in: 0..<16) : 0)
        let length = generator.pick([1, 2, 2, 4, 4])
        let little = (0..<length).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
        return generator.chance(50) ? little : little.reversed()
    }

    private func overwrite(_ bytes: inout [UInt8], at place: Int, with new: [UInt8]) {
        for (offset, byte) in new.enumerated() where place + offset < bytes.count { bytes[place + offset] = byte }
    }
}
