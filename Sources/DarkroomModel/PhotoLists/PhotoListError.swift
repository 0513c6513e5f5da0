/// The error of a photo list that cannot be read. If an entry has an invalid URL, only its photo fails.
package struct PhotoListError: Error, CustomStringConvertible {
    /// The kind of error.
    package struct Code: Hashable, Sendable {
        private enum Value { case notFound, unreadable, empty, notAList, damaged, tooLarge }
        private let value: Value

        /// The file or URL does not exist.
        package static let notFound = Code(value: .notFound)
        /// The list exists but cannot be opened, downloaded or read to its end.
        package static let unreadable = Code(value: .unreadable)
        /// The list contains no bytes or no photos.
        package static let empty = Code(value: .empty)
        /// The bytes are not a list, but for example a picture, a web page or prose.
        package static let notAList = Code(value: .notAList)
        /// The beginning of the list is valid, but the rest is not, or the list ends too early.
        package static let damaged = Code(value: .damaged)
        /// A list in a format that must be read as a whole exceeds the size limit.
        package static let tooLarge = Code(value: .tooLarge)
    }

    /// The kind of error.
    package let code: Code
    /// The path or URL of the list as the user gave it, or `standard input`; empty if it is unknown.
    package var list: String
    /// The line of the error, from 1; nil if the error does not concern a single line.
    package let line: Int?
    /// What was found, and what the user can do.
    package let message: String

    /// Creates an error. `list` may be set later.
    package init(_ code: Code, list: String = "", line: Int? = nil, _ message: String) {
        self.code = code
        self.list = list
        self.line = line
        self.message = message
    }

    /// The complete message, for example `photo list photos.csv, line 17: ...`.
    package var description: String {
        "photo list" + (list.isEmpty ? "" : " \(list)") + (line.map { ", line \($0)" } ?? "") + ": \(message)"
    }
}
