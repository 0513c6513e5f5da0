import DarkroomFiles
import DarkroomModel
import Foundation

/// Temporary files of lost workers. They are hidden files in the folders of the final files. The next worker that
/// claims the operation recognizes them by their name, `.<what>.<fencing token>.<worker>`.
package enum StaleFiles {
    /// The name of a temporary file of a photo (`what` is its index) or of a manifest file.
    package static func temporaryName(for what: String, fencingToken: Int, worker: String) -> String {
        ".\(what).\(fencingToken).\(worker)"
    }

    /// The `what` in the name of a manifest file's temporary file.
    package static func manifestName(operation number: Int) -> String { "manifest-\(number)" }

    /// Removes the temporary files of workers that held the operation with lower fencing tokens. No other worker
    /// removes these files. Files with final names are not removed.
    package static func remove(of held: HeldOperation, _ records: [PhotoRecord], _ output: BatchOutput) {
        if let originals = output.originals, let root = try? originals.place.open() {
            let names = Set(records.map { OriginalsFolder.temporaryName(for: $0, of: held.batch) })
            for folder in originals.folders(of: records) { remove(names, below: held.fencingToken, in: folder, root) }
        }
        guard let root = try? output.manifestPlace?.open() else { return }
        let indexes = Set(records.map { String($0.index) })
        for folder in output.folders(of: records) { remove(indexes, below: held.fencingToken, in: folder, root) }
        remove(
            [manifestName(operation: held.number)], below: held.fencingToken,
            in: ManifestPath.folder(held.batch) + "/" + ManifestPath.subfolder(operation: held.number), root)
    }

    private static func remove(_ whats: Set<String>, below fencingToken: Int, in path: String, _ root: Folder) {
        // A missing or unreadable folder contains no files to remove.
        guard let folder = try? root.folder(path), let names = try? folder.names() else { return }
        for name in names {
            let parts = name.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, parts[0].isEmpty, whats.contains(String(parts[1])),
                let left = Int(parts[2]), left < fencingToken
            else { continue }
            try? folder.remove(name)
        }
    }
}
