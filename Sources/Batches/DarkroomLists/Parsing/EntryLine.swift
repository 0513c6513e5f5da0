/// The line of the entry that a ``PhotoListParser`` passes on.
package final class EntryLine {
    /// The number of the entry's first line, from 1; nil in formats that are not divided into lines.
    package internal(set) var number: Int?

    package init() {}
}
