/// The metadata of the input that the output keeps, written as `all`, `none`, `no-gps` or `copyright,icc`.
package struct MetadataSelection: Sendable, Hashable {
    package enum Item: String, Sendable, CaseIterable {
        /// The tags Copyright and Artist of EXIF, which `exif` also includes.
        case copyright
        /// The colour profile.
        case icc
        case exif, xmp, iptc
    }

    package let items: Set<Item>
    /// Whether the GPS tags of EXIF are kept, and XMP that contains GPS tags. False if neither EXIF nor XMP is kept.
    package let keepsGPS: Bool

    package static let all = MetadataSelection(Set(Item.allCases), keepsGPS: true)
    /// The colour profile only.
    package static let profile = MetadataSelection([.icc], keepsGPS: false)
    package static let none = MetadataSelection([], keepsGPS: false)
    private static let noGPS = "no-gps"

    package init(_ items: Set<Item>, keepsGPS: Bool) {
        self.items = items
        self.keepsGPS = keepsGPS && !items.isDisjoint(with: [.exif, .xmp])
    }

    init(parsing text: String, of name: String) throws(InvalidParameterValue) {
        switch text {
        case "all": self = .all
        case "none": self = .none
        case Self.noGPS: self.init(Set(Item.allCases), keepsGPS: false)
        default:
            var words: [String] = []
            for word in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
                guard Item(rawValue: word) != nil || word == Self.noGPS else {
                    throw InvalidParameterValue(word, name, Self.advice(word))
                }
                guard !words.contains(word) else { throw InvalidParameterValue(text, name, "\(word) is given twice") }
                words.append(word)
            }
            self.init(Set(words.compactMap(Item.init)), keepsGPS: !words.contains(Self.noGPS))
        }
    }

    private static func advice(_ word: String) -> String {
        if word == "all" || word == "none" { return "\(word) stands alone" }
        let words = Item.allCases.map(\.rawValue) + [noGPS]
        return Suggestion.text(word, words + ["all", "none"])
            ?? "write all, none, or a list of \(words.joined(separator: ", "))"
    }
}

extension MetadataSelection: CustomStringConvertible {
    package var description: String {
        if items.isEmpty { return "none" }
        let isComplete = items.count == Item.allCases.count
        if isComplete { return keepsGPS ? "all" : Self.noGPS }
        let removesGPS = !keepsGPS && !items.isDisjoint(with: [.exif, .xmp])
        let words = Item.allCases.filter(items.contains).map(\.rawValue) + (removesGPS ? [Self.noGPS] : [])
        return words.joined(separator: ",")
    }
}
