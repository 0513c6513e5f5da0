/// A filter of a batch: a filter of Darkroom, or a custom filter of a worker.
///
/// `darkroom filters` lists the filters and their arguments.
public struct PhotoFilter: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
        /// A filter of Darkroom.
        case builtIn(Filter)
        case custom(Custom)
        /// A text that is not exactly one valid filter. The check of the list parses it again, together with the other
        /// filters: a text of several filters is valid, and a newer version of Darkroom may have filters that this
        /// version does not know.
        case text(String)
    }

    /// A custom filter, which a worker has registered under a name, written as `x:NAME` or `x:NAME=ARGUMENTS`.
    package struct Custom: Sendable, Hashable {
        package static let prefix = "x:"
        /// The largest length of arguments in bytes of UTF-8.
        package static let maxArgumentBytes = 4096

        package let name: String
        /// A text that Darkroom does not interpret; may be empty.
        package let arguments: String

        /// The name must be valid, and the arguments must not be longer than `maxArgumentBytes` or contain control
        /// characters.
        package init(name: String, arguments: String = "") {
            precondition(Self.isName(name) && Self.areArguments(arguments), "an invalid custom filter")
            self.name = name
            self.arguments = arguments
        }

        /// Whether a name is valid: 1 to 64 of the characters `A-Z a-z 0-9 _ -`.
        package static func isName(_ name: String) -> Bool { name.isName(with: "_-") }

        package static func areArguments(_ text: String) -> Bool {
            text.utf8.count <= maxArgumentBytes && !text.unicodeScalars.contains(where: \.isControl)
        }
    }

    package let content: Content

    /// Creates a filter from its text, for example `sepia=0.8` or `resize=800x600,fit:inside`. An invalid text is
    /// rejected when the batch is submitted.
    public init(_ text: String) {
        // The error is lost here; the check of the list, which parses the text again, reports it.
        let filters = (try? [PhotoFilter](parsing: text)) ?? []
        content = filters.count == 1 ? filters[0].content : .text(text)
    }

    package init(_ filter: Filter) { content = .builtIn(filter) }
    package init(_ custom: Custom) { content = .custom(custom) }
    /// Creates a filter from a text that is not exactly one valid filter.
    init(unreadable text: String) { content = .text(text) }

    /// Creates a filter from arguments. If an argument is out of its range, the check of the list rejects the filter.
    init(_ kind: Filter.Kind, _ arguments: [String: ParameterValue]) {
        self.init(Filter(kind, given: arguments).description)
    }

    /// Blends each photo with a sepia version of it. Alpha is unchanged. See
    /// [Filter Effects, sepia](https://www.w3.org/TR/filter-effects-1/#sepiaEquivalent).
    /// - Parameter intensity: the share of the sepia version in the result, 0 to 1.
    public static func sepia(intensity: Double = 0.8) -> PhotoFilter {
        PhotoFilter(.sepia, ["amount": .number(intensity)])
    }

    /// Blurs each photo by an amount that increases with the distance from the horizontal line in the middle of the
    /// photo. At distances above a quarter of the height, the amount is constant.
    /// - Parameter radius: the standard deviation of the blur in pixels, 0.1 to 100.
    public static func tiltShift(radius: Double = 3) -> PhotoFilter {
        PhotoFilter(.tiltShift, ["radius": .number(radius)])
    }

    /// Scales each photo so that it fits into a size. Smaller photos are not enlarged.
    /// - Parameters:
    ///   - width: the largest width in pixels, 1 to 65,535.
    ///   - height: the largest height in pixels, 1 to 65,535.
    public static func resize(within width: Int, by height: Int) -> PhotoFilter {
        let size = PhotoSize(width: width, height: height)
        return PhotoFilter(.resize, ["size": .size(size), "fit": .choice("inside"), "enlarge": .flag(false)])
    }

    /// A custom filter, which workers have registered under `name`.
    /// - Parameters:
    ///   - name: 1 to 64 ASCII letters, digits, `_` and `-`.
    ///   - arguments: a text that the filter gets with each photo: at most 4,096 bytes, without control characters. An
    ///     invalid name or text is rejected when the batch is submitted.
    public static func custom(_ name: String, arguments: String = "") -> PhotoFilter {
        guard Custom.isName(name), Custom.areArguments(arguments) else {
            // In quotes, no part of the text can become another filter.
            let text = [name, arguments].filter { !$0.isEmpty }.map(QuotedText.canonicalArguments)
            return PhotoFilter(unreadable: Custom.prefix + text.joined(separator: "="))
        }
        return PhotoFilter(Custom(name: name, arguments: arguments))
    }

    /// The custom filter; nil if this is another filter.
    package var custom: Custom? { if case .custom(let custom) = content { custom } else { nil } }
    /// The filter of Darkroom; nil if this is another filter.
    package var builtIn: Filter? { if case .builtIn(let filter) = content { filter } else { nil } }
    /// Whether this is exactly one valid filter.
    var isValid: Bool { if case .text = content { false } else { true } }
}

// MARK: - Canonical text

extension PhotoFilter: CustomStringConvertible {
    /// The filter as text on the command line and in Redis, for example `sepia=0.8` or `resize=800x600,inside`. Numbers
    /// have their shortest form. After the first argument, arguments with their default values are omitted. An invalid
    /// text is returned unchanged.
    public var description: String {
        switch content {
        case .builtIn(let filter): filter.description
        case .custom(let custom): custom.description
        case .text(let text): text
        }
    }
}

extension PhotoFilter.Custom: CustomStringConvertible {
    package var description: String {
        Self.prefix + name + (arguments.isEmpty ? "" : "=" + QuotedText.canonicalArguments(arguments))
    }
}

extension String {
    /// Whether the text is 1 to 64 of the characters `A-Z a-z 0-9` and `others`.
    func isName(with others: String) -> Bool {
        (1...64).contains(utf8.count)
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: others.utf8.contains(byte)
                }
            }
    }
}
