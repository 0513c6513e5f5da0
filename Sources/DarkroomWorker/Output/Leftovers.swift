import DarkroomFiles
import DarkroomModel
import DarkroomStore
import Foundation

/// The temporary files of workers that died: hidden, beside the files that they were to become, named
/// `.<what>.<fencingToken>.<worker>`, so that who claims their operation next knows them.
enum Leftovers {
    /// The temporary name of a photo (`what` is its index) or of a manifest file.
    static func temporaryName(for what: String, fencingToken: Int, worker: String) -> String {
        ".\(what).\(fencingToken).\(worker)"
    }

    /// What a manifest file is called in its temporary name.
    static func manifestName(operation number: Int) -> String { "manifest-\(number)" }

    /// Removes what workers with lower fences left of an operation. Nobody else ever removes a file of another worker, and
    /// nobody a final name.
    static func remove(of held: HeldOperation, _ records: [PhotoRecord], _ context: BatchContext) {
        if let originals = context.originals, let root = try? originals.place.open() {
            let names = Set(records.map { OriginalsFolder.temporaryName(for: $0, of: held.batch) })
            for folder in originals.folders(of: records) { remove(names, below: held.fencingToken, in: folder, root) }
        }
        guard let root = try? context.manifestPlace?.open() else { return }
        let indexes = Set(records.map { String($0.index) })
        let folders = Set(
            records.map { record in
                Path.split(context.template.path(index: record.index, name: record.name, ending: "")).folder ?? ""
            })
        for folder in folders { remove(indexes, below: held.fencingToken, in: folder, root) }
        remove(
            [manifestName(operation: held.number)], below: held.fencingToken,
            in: ManifestPath.folder(held.batch) + "/" + ManifestPath.subfolder(operation: held.number), root)
    }

    /// Removes what a worker that died left of an operation of a cancelled batch, under the fence of `held` or a lower one. The names of
    /// downloaded originals are not known any more: those files stay. Blocks as folders do.
    static func remove(ofCancelled held: HeldOperation, _ batch: BatchFacts, _ configuration: WorkerConfiguration) {
        var options = batch.options
        options.originals = ""
        options.photosFolder = ""
        options.remoteOutput = false  // a folder that is missing is not made
        let size = options.operationSize
        guard held.fencingToken < .max, held.number > 0, held.number <= batch.operations,
            // A worker that does not see the folder has nothing to remove there.
            let context = try? BatchContext(held.batch, options, configuration)
        else { return }
        let first = (held.number - 1) * size
        let records = (first..<max(first, min(first + size, batch.photos))).map {
            PhotoRecord(index: $0, name: "", url: "")
        }
        remove(
            of: HeldOperation(batch: held.batch, number: held.number, fencingToken: held.fencingToken + 1), records,
            context)
    }

    private static func remove(_ whats: Set<String>, below fencingToken: Int, in path: String, _ root: Folder) {
        // A folder that is not there, or cannot be read, has nothing that could be removed.
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
