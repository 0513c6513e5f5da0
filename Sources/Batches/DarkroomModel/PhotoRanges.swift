/// Photos of a list, given as ranges of indexes from 0, for example `[10...20, 31...31]`.
public struct PhotoRanges: Sendable, Equatable, CustomStringConvertible {
    /// The ranges in ascending order. Overlapping and adjacent ranges are merged.
    public let ranges: [ClosedRange<Int>]

    /// Sorts the ranges, and joins overlapping and adjacent ranges. Negative indexes are left out. Indexes above
    /// 9,999,999,999, which no list has, become 9,999,999,999.
    public init(_ ranges: [ClosedRange<Int>]) {
        var joined: [ClosedRange<Int>] = []
        let valid = ranges.filter { $0.upperBound >= 0 }.map { $0.clamped(to: StoredBounds.indexes) }
        for range in valid.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, range.lowerBound <= last.upperBound + 1 {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
            } else {
                joined.append(range)
            }
        }
        self.ranges = joined
    }

    /// Reads indexes and ranges that are separated by commas.
    /// - Throws: ``InvalidPhotoRanges`` with the invalid part of the text.
    package init(parsing text: String) throws(InvalidPhotoRanges) {
        var ranges: [ClosedRange<Int>] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count <= 2, let first = Self.index(ends[0]), let last = Self.index(ends[ends.count - 1]),
                first <= last
            else { throw InvalidPhotoRanges(text: text, part: String(part)) }
            ranges.append(first...last)
        }
        self.init(ranges)
    }

    /// The number of photos.
    public var count: Int { ranges.reduce(0) { $0 + $1.count } }

    /// Splits the ranges into pieces of at most `size` photos, in order.
    package func pieces(of size: Int) -> [[ClosedRange<Int>]] {
        var pieces: [[ClosedRange<Int>]] = [[]]
        var room = size
        for range in ranges {
            var first = range.lowerBound
            while first <= range.upperBound {
                if room == 0 {
                    pieces.append([])
                    room = size
                }
                let last = min(range.upperBound, first + room - 1)
                pieces[pieces.count - 1].append(first...last)
                room -= last - first + 1
                first = last + 1
            }
        }
        return pieces.filter { !$0.isEmpty }
    }

    /// The ranges in the format of the command line, for example `10-20,31`.
    public var description: String {
        ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: ",")
    }

    /// Reads an index of 1 to 10 digits. Returns nil for any other text.
    private static func index(_ text: Substring) -> Int? {
        guard text.utf8.count <= 10, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }
}

/// A text that is not a list of indexes and ranges.
package struct InvalidPhotoRanges: Error, CustomStringConvertible {
    package let text: String
    package let part: String

    /// The invalid text, and the correct format.
    package var description: String { "photos \"\(text)\": \(problem)" }

    /// The correct format, and the invalid part unless it is the whole text.
    package var problem: String {
        let found = part == text ? "" : " (found \"\(part)\")"
        return "write indexes from 0 and ranges of them, the smaller first, as 10-20,31\(found)"
    }
}

extension PhotoRanges: ExpressibleByArrayLiteral {
    /// See ``init(_:)``.
    public init(arrayLiteral ranges: ClosedRange<Int>...) { self.init(ranges) }
}
