import DarkroomText

/// A type whose values can be written on the command line.
package protocol ExpressibleByArgument: Sendable {
    /// Reads a value.
    ///
    /// - Throws: ``InvalidValue``, or any error whose description reads well after the value: `--quality "x": <error>`.
    init(argument: String) throws

    /// The value as a user would write it; shown as default in the help.
    var argumentText: String { get }

    /// All values there are, if they can be listed.
    static var allArgumentTexts: [String] { get }

    /// Accepted synonyms: the synonym, in lower case, and the value of ``allArgumentTexts`` that it means.
    static var otherArgumentTexts: [String: String] { get }
}

extension ExpressibleByArgument {
    /// The value's description.
    package var argumentText: String { "\(self)" }
    /// Nothing: most types have too many values to list.
    package static var allArgumentTexts: [String] { [] }
    /// None.
    package static var otherArgumentTexts: [String: String] { [:] }
}

/// Says why a text is no value of a type.
package struct InvalidValue: Error, CustomStringConvertible, Sendable {
    /// What was found and what would be good; follows the value in the message.
    package let description: String

    /// Creates an error.
    package init(_ description: String) {
        self.description = description
    }
}

extension String: ExpressibleByArgument {
    /// Takes the text as it is, an empty one too.
    package init(argument: String) { self = argument }
}

extension Int: ExpressibleByArgument {
    /// Reads decimal digits with an optional sign.
    package init(argument: String) throws {
        guard let value = Int(argument) else { throw InvalidValue("not a whole number") }
        self = value
    }
}

extension Double: ExpressibleByArgument {
    /// Reads a finite number.
    package init(argument: String) throws {
        guard let value = Double(argument), value.isFinite else { throw InvalidValue("not a number") }
        self = value
    }
}

/// An enumeration of words needs only to declare its conformance.
extension ExpressibleByArgument where Self: RawRepresentable, RawValue == String, Self: CaseIterable {
    /// Reads one of the words, in any case; the error lists them.
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

    /// The word.
    package var argumentText: String { rawValue }
    /// All words, in the order of the cases.
    package static var allArgumentTexts: [String] { allCases.map(\.rawValue) }
}
