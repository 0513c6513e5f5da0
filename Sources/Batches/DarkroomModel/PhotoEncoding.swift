import DarkroomRecipes

/// How files are encoded: format, quality, metadata and so on. A setting that is not given has its default.
///
/// ```swift
/// options.encoding = PhotoEncoding("format=webp; quality=70; metadata=none")
/// ```
///
/// The page Formats lists the settings.
public struct PhotoEncoding: Sendable, Hashable, CustomStringConvertible {
    /// The settings as text, as in renditions: `format=webp; quality=70`. Empty if no setting is given.
    public let description: String

    /// Creates settings from their text. The text is checked when the batch is submitted.
    public init(_ text: String = "") { description = text }

    package init(_ settings: EncodingSettings) { description = settings.description }

    /// - Throws: ``ChainSyntaxError`` if a setting is invalid.
    package func settings() throws(ChainSyntaxError) -> EncodingSettings { try EncodingSettings(parsing: description) }
}
