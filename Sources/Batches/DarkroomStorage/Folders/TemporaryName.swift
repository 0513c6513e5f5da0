import DarkroomFiles
import DarkroomModel

/// The names of temporary files: `.<what>.<fencing token>.<writer>`, hidden files in the folders of the final files. The next
/// worker that claims the operation recognizes the files of lost workers by their names.
package enum TemporaryName {
    /// - Parameters:
    ///   - what: for example ``photo(_:of:)`` or ``manifest(operation:)``.
    ///   - writer: unique among all workers and their attempts.
    package static func of(_ what: String, fencingToken: Int, writer: String) -> String {
        ".\(what).\(fencingToken).\(writer)"
    }

    /// The `what` in the names of the temporary files of a photo. The text contains the batch, because another batch
    /// may write a photo with the same index to the same folder.
    package static func photo(_ index: Int, of batch: BatchID) -> String { "\(batch)-\(index)" }

    /// The `what` in the name of a manifest file's temporary file.
    static func manifest(operation number: Int) -> String { "manifest-\(number)" }

    /// Removes the temporary files with fencing tokens below `token` from a folder. Files with final names are not
    /// removed.
    package static func remove(_ whats: Set<String>, below token: Int, in path: String, _ root: Folder) {
        // A missing or unreadable folder contains no files to remove.
        guard let folder = try? root.folder(path), let names = try? folder.names() else { return }
        for name in names {
            let parts = name.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, parts[0].isEmpty, whats.contains(String(parts[1])), let left = Int(parts[2]),
                left < token
            else { continue }
            try? folder.remove(name)  // a file that stays does no harm
        }
    }
}
