import DarkroomModel

/// The names and values of a log event, in a fixed order.
///
/// `[.batch: .text(id), .photo: 17, .url: .url(photo.url), "reason": "timeout"]`
package struct LogMetadata: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    package struct Key: Sendable, Hashable, ExpressibleByStringLiteral {
        package static let batch: Key = "batch"
        package static let operation: Key = "operation"
        package static let photo: Key = "photo"
        package static let worker: Key = "worker"
        /// A URL; its value is a ``LogMetadata/Value/url(_:)``.
        package static let url: Key = "url"

        /// The name in the log line.
        package let name: String
        /// The names that come before all other names in a line, in this order.
        private static let first = ["batch", "operation", "photo", "worker", "url"]
        /// The names of the standard fields that every line has.
        private static let reserved: Set<String> = ["time", "level", "logger", "message", "leftOut", "isCut"]

        /// Creates a key with a lower-case name. An underscore is added to the name of a standard field.
        package init(stringLiteral name: StaticString) {
            let name = name.description
            self.name = Self.reserved.contains(name) ? name + "_" : name
        }

        static func precedes(_ left: Key, _ right: Key) -> Bool {
            let (leftRank, rightRank) = (left.rank, right.rank)
            return leftRank == rightRank ? left.name < right.name : leftRank < rightRank
        }

        private var rank: Int { Self.first.firstIndex(of: name) ?? Self.first.count }
    }

    /// A value, from which secret parts of URLs are removed.
    package struct Value: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case text(String)
            case integer(Int)
            case number(Double)
            case bool(Bool)
        }

        let kind: Kind

        /// A text with user, password and query removed from URLs; truncated to 1,000 bytes.
        package static func text(_ text: some CustomStringConvertible) -> Value {
            Value(kind: .text(LogText.cut(PhotoURL.redacting(text.description))))
        }

        /// A URL without user, password and query; truncated to 1,000 bytes.
        package static func url(_ url: String) -> Value { Value(kind: .text(LogText.cut(PhotoURL.redacted(url)))) }

        /// A duration in seconds.
        package static func seconds(_ duration: Duration) -> Value {
            Value(kind: .number((duration / .milliseconds(1)).rounded() / 1000))
        }
    }

    /// The items in order; each key occurs once.
    private(set) var items: [Item]

    struct Item: Sendable, Hashable {
        let key: Key
        var value: Value
    }

    /// Creates metadata from names and values. If a name occurs twice, the last value is used.
    package init(dictionaryLiteral elements: (Key, Value)...) {
        items = []
        for (key, value) in elements { self[key] = value }
    }

    /// The value with this name; nil if no value has this name.
    package subscript(key: Key) -> Value? {
        get { items.first { $0.key == key }?.value }
        set {
            items.removeAll { $0.key == key }
            guard let newValue else { return }
            let place = items.firstIndex { Key.precedes(key, $0.key) } ?? items.endIndex
            items.insert(Item(key: key, value: newValue), at: place)
        }
    }

    /// Returns the metadata combined with `others`. If both contain the same name, the value of `others` is used.
    package func adding(_ others: LogMetadata) -> LogMetadata {
        var all = self
        for item in others.items { all[item.key] = item.value }
        return all
    }
}

extension LogMetadata.Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    package init(stringLiteral text: String) { self = .text(text) }
    package init(integerLiteral number: Int) { kind = .integer(number) }
    package init(floatLiteral number: Double) { kind = .number(number) }
    package init(booleanLiteral value: Bool) { kind = .bool(value) }

    package static func number(_ number: Int) -> Self { Self(kind: .integer(number)) }
}
