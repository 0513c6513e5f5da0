/// A photo list that cannot be read; a single entry that is no usable URL is no such error but a photo that fails.
package struct PhotoListError: Error, CustomStringConvertible {
    /// What is wrong with the list.
    package struct Code: Hashable, Sendable {
        private enum Value { case notFound, unreadable, empty, notAList, damaged, tooLarge }
        private let value: Value

        /// There is nothing at the place named.
        package static let notFound = Code(value: .notFound)
        /// It is there and cannot be opened, fetched or read to its end.
        package static let unreadable = Code(value: .unreadable)
        /// It holds no bytes, or no photos.
        package static let empty = Code(value: .empty)
        /// It is something else: a picture, a web page, prose.
        package static let notAList = Code(value: .notAList)
        /// It began as a list and goes on as none, or ends too early.
        package static let damaged = Code(value: .damaged)
        /// It is of a format that is read whole, and larger than that allows.
        package static let tooLarge = Code(value: .tooLarge)
    }

    /// What is wrong with the list.
    package let code: Code
    /// The list's path or URL as the user gave it, `standard input`, or empty where only bytes are known.
    package var list: String
    /// The line, from 1, where it was found; nil when it is about no single line.
    package let line: Int?
    /// What was found and what to do.
    package let message: String

    /// An error about a list that is named later, or about `list`.
    package init(_ code: Code, list: String = "", line: Int? = nil, _ message: String) {
        self.code = code
        self.list = list
        self.line = line
        self.message = message
    }

    /// The whole sentence: `photo list photos.csv, line 17: ...`.
    package var description: String {
        "photo list" + (list.isEmpty ? "" : " \(list)") + (line.map { ", line \($0)" } ?? "") + ": \(message)"
    }
}
