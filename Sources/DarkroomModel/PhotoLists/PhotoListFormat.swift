/// The forms of photo lists.
package enum PhotoListFormat: Sendable, Equatable {
    /// A URL a line.
    case text
    /// CSV, TSV and their like.
    case separated
    /// JSONL: a JSON string or object a line.
    case jsonLines
    /// One JSON document.
    case json
    /// A property list, XML or binary.
    case propertyList
    /// A folder whose files are the photos.
    case folder

    /// True for the formats that are read whole before their first photo is known.
    package var isReadWhole: Bool { self == .json || self == .propertyList }
}
