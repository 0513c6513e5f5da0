/// The output format.
package enum FormatChoice: Sendable, Hashable {
    /// The format of the input photo.
    case same
    case fixed(ImageFormat)
    /// Of these formats, the one that gives the smallest file; if several give the same size, the first of them.
    case automatic([ImageFormat])

    private static let standardCandidates: [ImageFormat] = [.jpeg, .png, .webp]
    private static let automaticName = "auto"

    init(parsing text: String, of name: String) throws(InvalidParameterValue) {
        if text == "same" {
            self = .same
        } else if text == Self.automaticName {
            self = .automatic(Self.standardCandidates)
        } else if text.hasPrefix(Self.automaticName + ":") {
            var formats: [ImageFormat] = []
            let candidates = text.dropFirst(Self.automaticName.count + 1)
            for candidate in candidates.split(separator: ",", omittingEmptySubsequences: false) {
                let format = try Self.format(String(candidate), of: name, others: [])
                guard !formats.contains(format) else {
                    throw InvalidParameterValue(text, name, "\(format.rawValue) is given twice")
                }
                formats.append(format)
            }
            self = .automatic(formats)
        } else {
            self = .fixed(try Self.format(text, of: name, others: ["same", Self.automaticName]))
        }
    }

    /// - Parameter others: Other words that are accepted; the suggestion may contain them.
    private static func format(
        _ text: String, of name: String, others: [String]
    ) throws(InvalidParameterValue) -> ImageFormat {
        if let format = ImageFormat(rawValue: text.lowercased()) ?? ImageFormat(ending: text) { return format }
        let names = ImageFormat.allCases.map(\.rawValue) + others
        let suggestion = Suggestion.text(text, names + ImageFormat.endings)
        throw InvalidParameterValue(text, name, suggestion ?? "write one of " + names.joined(separator: ", "))
    }
}

extension FormatChoice: CustomStringConvertible {
    package var description: String {
        switch self {
        case .same: "same"
        case .fixed(let format): format.rawValue
        case .automatic(let formats): "\(Self.automaticName):" + formats.map(\.rawValue).joined(separator: ",")
        }
    }
}
