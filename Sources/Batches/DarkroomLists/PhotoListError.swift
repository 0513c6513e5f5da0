import DarkroomModel

/// The error of a photo list that cannot be read. An entry with an invalid URL is not such an error: only its photo
/// fails.
package struct PhotoListError: Error, Remediable {
    /// The kind of defect of a list.
    package enum Code: Sendable {
        /// The file or URL does not exist.
        case notFound
        /// The list exists but cannot be opened, downloaded or read to its end.
        case unreadable
        /// The list contains no bytes or no photos.
        case empty
        /// The bytes are something other than a list, for example a picture, a web page or prose.
        case notAList
        /// The beginning of the list is valid, but the rest is not, or the list ends too early.
        case damaged
        /// The list exceeds a size limit. Formats that must be read as a whole have their own limit.
        case tooLarge
    }

    /// The kind of error.
    package let code: Code
    /// The path or URL of the list as the user gave it, or `standard input`; empty if it is unknown.
    package var list: String
    /// The line of the error, from 1; nil if the error does not concern a single line.
    package let line: Int?
    /// The defect, and the remedy if there are no ``remedies``.
    package let message: String
    package let remedies: [Remedy]

    /// Creates an error. A caller that does not know `list` yet may set it later.
    package init(_ code: Code, list: String = "", line: Int? = nil, _ message: String, _ remedies: Remedy...) {
        self.code = code
        self.list = list
        self.line = line
        self.message = message
        self.remedies = remedies
    }

    /// The message with its place, for example `photo list photos.csv, line 17: ...`.
    package var problem: String {
        "photo list" + (list.isEmpty ? "" : " \(list)") + (line.map { ", line \($0)" } ?? "") + ": \(message)"
    }
}

/// A remark about a list that is read, for example that entries were skipped, converted or guessed.
package struct ListRemark: Remediable, Hashable {
    package let problem: String
    package let remedies: [Remedy]

    init(_ problem: String, _ remedies: Remedy...) {
        self.problem = problem
        self.remedies = remedies
    }

    /// The remark, preceded by `list`, which is the name of the list with a separator.
    func after(_ list: String) -> ListRemark { ListRemark(list + problem, remedies) }

    private init(_ problem: String, _ remedies: [Remedy]) {
        self.problem = problem
        self.remedies = remedies
    }
}
