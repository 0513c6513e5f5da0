/// The formats of photo lists.
package enum PhotoListFormat: Sendable, Equatable {
    /// One URL per line.
    case text
    /// CSV, TSV and similar tables.
    case separated
    /// JSONL: one JSON string or object per line.
    case jsonLines
    /// One JSON document.
    case json
    /// A property list, XML or binary.
    case propertyList
    /// A folder whose files are the photos.
    case folder

    /// True for formats that must be read completely before the first photo is known.
    package var isReadWhole: Bool { self == .json || self == .propertyList }
}
