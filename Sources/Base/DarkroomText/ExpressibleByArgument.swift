/// A type whose values can be given as text, as options of commands and as fields of the HTTP API.
package protocol ExpressibleByArgument: Sendable {
    /// Parses a value.
    ///
    /// - Throws: An error, usually ``InvalidValue``. The description of the error ends the message:
    ///   `--quality "x": <description>`.
    init(argument: String) throws

    /// The value as a user would write it. The help shows this text if the value is a default.
    var argumentText: String { get }

    /// The texts of all values; empty if there are too many to list.
    static var allArgumentTexts: [String] { get }

    /// Accepted synonyms in lower case, each with the text in ``allArgumentTexts`` that it stands for.
    static var otherArgumentTexts: [String: String] { get }
}

extension ExpressibleByArgument {
    package var argumentText: String { "\(self)" }
    package static var allArgumentTexts: [String] { [] }
    package static var otherArgumentTexts: [String: String] { [:] }
}

/// The error for a text that is not a valid value of a type.
package struct InvalidValue: Error, CustomStringConvertible, Sendable {
    /// The text after the value in the message. It says what is wrong with the value, or which values are accepted.
    package let description: String

    package init(_ description: String) { self.description = description }
}

extension String: ExpressibleByArgument {
    /// Uses the text unchanged, even if it is empty.
    package init(argument: String) { self = argument }
}

extension Int: ExpressibleByArgument {
    /// Parses decimal digits with an optional sign.
    package init(argument: String) throws {
        guard let value = Int(argument) else { throw InvalidValue("not a whole number") }
        self = value
    }
}

extension Double: ExpressibleByArgument {
    package init(argument: String) throws {
        guard let value = Double(argument), value.isFinite else { throw InvalidValue("not a number") }
        self = value
    }
}

/// The implementation for enumerations with raw values of type `String`.
extension ExpressibleByArgument where Self: RawRepresentable, RawValue == String, Self: CaseIterable {
    /// Parses one of the words, in upper or lower case. The error lists the words.
    package init(argument: String) throws {
        let words = Self.allArgumentTexts
        let small = argument.lowercased()
        let word = words.first { $0.lowercased() == small } ?? Self.otherArgumentTexts[small]
        guard let value = word.flatMap(Self.init(rawValue:)) else {
            let meant = NearMiss.find(argument, in: words).map { "did you mean \"\($0)\"? " } ?? ""
            throw InvalidValue(meant + "it can be " + words.joined(separator: ", "))
        }
        self = value
    }

    package var argumentText: String { rawValue }
    /// All words, in the order of the cases.
    package static var allArgumentTexts: [String] { allCases.map(\.rawValue) }
}
