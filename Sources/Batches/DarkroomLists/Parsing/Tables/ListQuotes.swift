/// The reading of quotation marks in a table.
package enum ListQuotes: String, CaseIterable, Sendable {
    /// A quotation mark is a character like any other, as in TSV files of data sets.
    case literal
    /// A field may be enclosed in quotation marks, and may then contain delimiters and line ends (RFC 4180).
    case csv
}
