import DarkroomText

/// The id of a batch: the time of its submission (UTC, in milliseconds) and four random hexadecimal digits, for example
/// `20261121-090501123-7f3a`. Sorting ids sorts batches by time of submission.
///
/// Ids are used in file paths and key names, so every text is checked. An id consists of 1 to 64 ASCII letters, digits,
/// `-` and `_`, and begins with a letter or a digit.
public struct BatchID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The id as text.
    public let description: String

    /// The maximum length of an id in bytes.
    package static let maxBytes = 64

    /// Creates an id from a text; nil if the text is not a valid id.
    public init?(_ text: String) {
        let bytes = text.utf8
        guard let first = bytes.first, Byte.isAlphanumeric(first), bytes.count <= Self.maxBytes,
            bytes.allSatisfy({ Byte.isAlphanumeric($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else { return nil }
        description = text
    }

    /// Whether the id has the form of an id that ``init(submittedAt:)`` makes.
    package var hasTimeOfSubmission: Bool {
        let parts = description.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == [8, 9, 4] && parts[0].allSatisfy(Byte.isDigit) && parts[1].allSatisfy(Byte.isDigit)
            && parts[2].allSatisfy { Byte.isDigit($0) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 }
    }

    /// Creates an id for a batch that is submitted at this Redis time, in milliseconds since 1970.
    package init(submittedAt milliseconds: Int) {
        let (year, month, day) = Self.civilDate(daysSince1970: milliseconds / 86_400_000)
        let inDay = milliseconds % 86_400_000
        let date = year.padded(to: 4) + month.padded(to: 2) + day.padded(to: 2)
        let minutes = (inDay / 3_600_000).padded(to: 2) + (inDay / 60_000 % 60).padded(to: 2)
        let random = UInt16.random(in: 0...UInt16.max).padded(to: 4, radix: 16)
        description = "\(date)-\(minutes)\((inDay % 60_000).padded(to: 5))-\(random)"
    }

    /// Compares the ids as texts, so a batch that was submitted earlier has the smaller id.
    public static func < (left: BatchID, right: BatchID) -> Bool { left.description < right.description }

    /// Converts days since 1970 to year, month and day of the Gregorian calendar, without Foundation (Howard Hinnant,
    /// "chrono-Compatible Low-Level Date Algorithms", civil_from_days).
    private static func civilDate(daysSince1970 days: Int) -> (Int, Int, Int) {
        let shifted = days + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}

extension BatchID: ExpressibleByStringLiteral {
    /// Creates an id from a literal, which must be a valid id.
    public init(stringLiteral text: String) {
        guard let id = BatchID(text as String) else { preconditionFailure("no batch may have the id \"\(text)\"") }
        self = id
    }
}

extension BatchID: Codable {
    /// Reads an id from a text.
    /// - Throws: `DecodingError` if the text is not a valid id.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = BatchID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "it is not the id of a batch")
        }
        self = id
    }

    /// Writes the id as a text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
