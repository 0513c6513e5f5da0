/// A photo list that cannot be read. An entry with an invalid URL is not an error of the list; only its photo fails.
package struct PhotoListError: Error, CustomStringConvertible {
    /// What is wrong with the list.
    package enum Code: Sendable {
        /// The file or URL does not exist.
        case notFound
        /// The list exists but cannot be opened, downloaded or read to its end.
        case unreadable
        /// The list has no bytes or no photos.
        case empty
        /// The bytes are no list, but a picture, a web page or prose.
        case notAList
        /// The beginning is a valid list, but the rest is not, or the list ends too early.
        case damaged
        /// The list has a format that is read whole, and exceeds the limit for it.
        case tooLarge
    }

    /// What is wrong with the list.
    package let code: Code
    /// The list's path or URL as the user gave it, `standard input`, or empty if only bytes are known.
    package var list: String
    /// The line of the error, from 1; nil if the error has no single line.
    package let line: Int?
    /// What was found, and what to do.
    package let message: String

    /// An error about `list`, which may be set later.
    package init(_ code: Code, list: String = "", line: Int? = nil, _ message: String) {
        self.code = code
        self.list = list
        self.line = line
        self.message = message
    }

    /// The complete message: `photo list photos.csv, line 17: ...`.
    package var description: String {
        "photo list" + (list.isEmpty ? "" : " \(list)") + (line.map { ", line \($0)" } ?? "") + ": \(message)"
    }
}
