/// One of several files that a batch makes of each photo.
public struct PhotoRendition: Sendable, Hashable {
    /// The folder of the files in the output folder: 1 to 64 ASCII letters, digits, `_`, `-` and `.`.
    public var name: String
    /// The filters, in the order in which they are applied.
    public var filters: [PhotoFilter]
    /// The encoding. A setting that is not given has the value of the encoding of the batch.
    public var encoding: PhotoEncoding

    /// Creates a rendition. Its values are checked when the batch is submitted.
    public init(_ name: String, filters: [PhotoFilter], encoding: PhotoEncoding = PhotoEncoding()) {
        self.name = name
        self.filters = filters
        self.encoding = encoding
    }

    /// Parses `NAME = CHAIN; SETTING=VALUE; ...`.
    package init(parsing text: String) throws(ChainSyntaxError) {
        var parser = RenditionParser(TextScanner(text))
        self = try parser.rendition()
    }

    /// The rendition in canonical form, with a valid name.
    func checked() throws(ChainSyntaxError) -> PhotoRendition {
        let isValid = Self.problem(ofName: name) == nil && filters.areValid && encoding.isValid
        return isValid ? self : try PhotoRendition(parsing: description)
    }

    /// The reason why a name is invalid; nil if it is valid.
    static func problem(ofName name: String) -> String? {
        if name.lowercased() == "manifest" { return "the name manifest belongs to Darkroom; write another name" }
        guard name.isName(with: "_-."), name.first != ".", name.first != "-" else {
            return "a name is 1 to 64 letters, digits, \"_\", \"-\" and \".\", and does not begin with \"-\" or \".\""
        }
        return nil
    }
}

extension PhotoRendition: CustomStringConvertible {
    /// The rendition as text on the command line: `small = resize=200x; format=webp`.
    public var description: String {
        let settings = encoding.description
        return "\(name) = \(filters.text)" + (settings.isEmpty ? "" : "; \(settings)")
    }
}
