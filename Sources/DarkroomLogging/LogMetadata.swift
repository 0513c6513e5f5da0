import DarkroomModel

/// What a line of the log says besides its message: names and values, in one order wherever they come from.
///
/// `[.batch: .text(id), .photo: 17, .url: .url(photo.url), "reason": "timeout"]`
public struct LogMetadata: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The name of a value.
    public struct Key: Sendable, Hashable, ExpressibleByStringLiteral {
        /// The id of a batch.
        public static let batch: Key = "batch"
        /// The number of an operation.
        public static let operation: Key = "operation"
        /// The index of a photo.
        public static let photo: Key = "photo"
        /// The id of a worker.
        public static let worker: Key = "worker"
        /// A URL; its value is a ``LogMetadata/Value/url(_:)``.
        public static let url: Key = "url"

        /// The name as it is written.
        public let name: String
        /// These come first, in this order.
        private static let first = ["batch", "operation", "photo", "worker", "url"]
        /// What every line has by itself.
        private static let reserved: Set<String> = ["time", "level", "logger", "message", "leftOut", "isCut"]

        /// A name in lower case letters; one that every line has by itself gets an underscore.
        public init(stringLiteral name: StaticString) {
            let name = name.description
            self.name = Self.reserved.contains(name) ? name + "_" : name
        }

        static func precedes(_ left: Key, _ right: Key) -> Bool {
            let (leftRank, rightRank) = (left.rank, right.rank)
            return leftRank == rightRank ? left.name < right.name : leftRank < rightRank
        }

        private var rank: Int { Self.first.firstIndex(of: name) ?? Self.first.count }
    }

    /// A value, free of what URLs may hold of secrets.
    public struct Value: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case text(String)
            case integer(Int)
            case number(Double)
            case bool(Bool)
        }

        let kind: Kind

        /// A text, in which URLs lose user, password and query; cut after 1,000 bytes.
        public static func text(_ text: some CustomStringConvertible) -> Value {
            Value(kind: .text(LogText.cut(PhotoURL.redacting(text.description))))
        }

        /// A URL without user, password and query; cut after 1,000 bytes.
        public static func url(_ url: String) -> Value { Value(kind: .text(LogText.cut(PhotoURL.redacted(url)))) }

        /// A duration in seconds.
        public static func seconds(_ duration: Duration) -> Value {
            Value(kind: .number((duration / .milliseconds(1)).rounded() / 1000))
        }
    }

    /// In order, each key once.
    private(set) var items: [Item]

    struct Item: Sendable, Hashable {
        let key: Key
        var value: Value
    }

    /// Values by their names; of two with one name the last counts.
    public init(dictionaryLiteral elements: (Key, Value)...) {
        items = []
        for (key, value) in elements { self[key] = value }
    }

    /// The value with this name; nil is none.
    public subscript(key: Key) -> Value? {
        get { items.first { $0.key == key }?.value }
        set {
            items.removeAll { $0.key == key }
            guard let newValue else { return }
            let place = items.firstIndex { Key.precedes(key, $0.key) } ?? items.endIndex
            items.insert(Item(key: key, value: newValue), at: place)
        }
    }

    /// These and others, which count where both have a name.
    public func adding(_ others: LogMetadata) -> LogMetadata {
        var all = self
        for item in others.items { all[item.key] = item.value }
        return all
    }
}

extension LogMetadata.Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    /// A text.
    public init(stringLiteral text: String) { self = .text(text) }
    /// A whole number.
    public init(integerLiteral number: Int) { kind = .integer(number) }
    /// A number.
    public init(floatLiteral number: Double) { kind = .number(number) }
    /// True or false.
    public init(booleanLiteral value: Bool) { kind = .bool(value) }

    /// A whole number.
    public static func number(_ number: Int) -> Self { Self(kind: .integer(number)) }
}
