/// The reason why a worker cannot run a batch.
package struct Refusal: Error, Sendable, Hashable {
    /// The kind of refusal. The raw values are stored in Redis, so they never change.
    package enum Code: String, Sendable, CaseIterable {
        /// The worker may not write to a folder of the batch.
        case outputNotAllowed = "output-not-allowed"
        /// The worker may not read a file of the batch.
        case filesNotAllowed = "files-not-allowed"
        /// The worker does not see a folder of the batch, or the file system of the folder does not answer.
        case folderMissing = "folder-missing"
        /// Another batch has taken the place of the results. The refused batch may take the place back later.
        case folderTaken = "folder-taken"
        /// Another process holds the lock of the place of the results.
        case folderLocked = "folder-locked"
        /// Space or a quota is used up.
        case diskFull = "disk-full"
        /// Any other reason.
        case other
    }

    package let code: Code
    /// The cause, as a clause that follows the name of the batch.
    package let reason: String

    package init(_ code: Code = .other, _ reason: String) {
        self.code = code
        self.reason = reason
    }
}

extension Refusal {
    /// The form of the fact `refused` in Redis: `[<code>] <reason>`, without the code if it is ``Code/other``. Workers of
    /// earlier versions write and expect only the reason.
    package var text: String { code == .other ? reason : "[\(code.rawValue)] \(reason)" }

    /// Parses a ``text``. An unknown code counts as ``Code/other`` and remains in the reason.
    package init(parsing text: String) {
        let parts = text.dropFirst().split(separator: "] ", maxSplits: 1)
        if text.hasPrefix("["), parts.count == 2, let code = Code(rawValue: String(parts[0])) {
            self.init(code, String(parts[1]))
        } else {
            self.init(.other, text)
        }
    }
}
