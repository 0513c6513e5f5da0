import DarkroomRecipes

/// One of several files that a batch makes of each photo.
public struct PhotoRendition: Sendable, Hashable, CustomStringConvertible {
    /// The folder of the files in the output folder: 1 to 64 ASCII letters, digits, `_`, `-` and `.`.
    public var name: String
    /// The filters, in the order in which they are applied.
    public var filters: [PhotoFilter]
    /// The encoding. A setting that is not given has the value of ``BatchOptions/encoding``.
    public var encoding: PhotoEncoding

    /// Creates a rendition. Its values are checked when the batch is submitted.
    public init(_ name: String, filters: [PhotoFilter], encoding: PhotoEncoding = PhotoEncoding()) {
        self.name = name
        self.filters = filters
        self.encoding = encoding
    }

    /// The rendition as text on the command line: `small = resize=200; format=webp`.
    public var description: String {
        let settings = encoding.description
        return "\(name) = \(filters.text)" + (settings.isEmpty ? "" : "; \(settings)")
    }

    package init(_ rendition: Rendition) {
        name = rendition.name
        filters = [PhotoFilter](rendition.chain)
        encoding = PhotoEncoding(rendition.settings)
    }
}

extension [PhotoRendition] {
    /// The renditions as the text of a recipe, in the form in which Redis stores it; empty without renditions.
    package var text: String { map { "\($0)\n" }.joined() }

    package init(_ recipe: Recipe) { self = recipe.renditions.map { PhotoRendition($0) } }

    /// - Throws: ``ChainSyntaxError`` if a rendition is invalid.
    package func recipe() throws(ChainSyntaxError) -> Recipe? {
        guard !isEmpty else { return nil }
        var renditions: [Rendition] = []
        for rendition in self { renditions.append(try Rendition(parsing: rendition.description)) }
        return try Recipe(renditions)
    }
}
