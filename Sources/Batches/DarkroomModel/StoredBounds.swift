import DarkroomText

/// The bounds of the numbers and texts in Redis. Darkroom does not write values outside these bounds.
package enum StoredBounds {
    /// Integers that Lua represents exactly, for numbers of bytes, versions, fencing tokens and times in milliseconds.
    package static let numbers = 0...(1 << 53)
    /// The number of photos or operations in a batch: Redis keeps a byte per photo in a string of at most 512 MiB.
    package static let photos = 0...(1 << 29)
    /// Indexes of photos in commands. They may exceed the number of photos: a focus may include photos not fed yet.
    package static let indexes = 0...9_999_999_999
    /// The maximum length in bytes of a text in a hash. A command line argument on Linux has the same maximum.
    package static let textBytes = 128 << 10
}

/// Reads the fields of a batch's hash. A value that is out of bounds is recorded as damage.
struct StoredFields {
    private let fields: [String: String]
    /// The damage found, with one phrase for each field: `photos is "-5"`.
    private(set) var damage: [String] = []

    init(_ fields: [String: String]) { self.fields = fields }

    /// A required number; `other` if it is missing (also because its value was not UTF-8) or damaged.
    mutating func number(
        _ name: String, in bounds: ClosedRange<Int> = StoredBounds.numbers, otherwise other: Int = 0
    ) -> Int {
        guard let text = fields[name] else {
            damage.append("\(name) is not a number")
            return other
        }
        if let value = Int(text), bounds.contains(value) { return value }
        note(name, text)
        return other
    }

    /// A number that may be missing or empty.
    mutating func optionalNumber(_ name: String, in bounds: ClosedRange<Int> = StoredBounds.numbers) -> Int? {
        guard let text = fields[name], !text.isEmpty else { return nil }
        if let value = Int(text), bounds.contains(value) { return value }
        note(name, text)
        return nil
    }

    /// A text; nil if it is missing or too long.
    mutating func text(_ name: String) -> String? {
        guard let text = fields[name] else { return nil }
        guard text.utf8.count <= StoredBounds.textBytes else {
            damage.append("\(name) has \(text.utf8.count) bytes")
            return nil
        }
        return text
    }

    /// A value of an enumeration; nil if it is missing or unknown.
    mutating func word<Word: RawRepresentable<String>>(_ name: String, as _: Word.Type = Word.self) -> Word? {
        guard let text = fields[name] else { return nil }
        if let word = Word(rawValue: text) { return word }
        note(name, text)
        return nil
    }

    /// The treatment of photos with defects. If the field is missing or empty, as in old batches, such photos fail.
    mutating func damagedPhotos(_ name: String) -> DamagedPhotos {
        let text = fields[name] ?? ""
        if let found = DamagedPhotos(stored: text) { return found }
        note(name, text)
        return .fail
    }

    func isSet(_ name: String) -> Bool { fields[name] == "1" }

    /// Records values that contradict each other.
    mutating func noteContradiction(_ text: String) { damage.append(text) }

    private mutating func note(_ name: String, _ text: String) {
        damage.append("\(name) is \"\(text.shortened(to: 30))\"")
    }
}
