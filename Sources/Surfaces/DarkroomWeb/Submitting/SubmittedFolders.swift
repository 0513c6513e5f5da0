import Darkroom
import DarkroomFiles
import DarkroomLogging
import DarkroomStorage
import DarkroomStore

/// Creates the folders of a submitted batch in the folder of the server, if this machine may do so. Workers without
/// `--outputs-under` create no folders, and find the folder of the manifest only if the server sees the same file system.
///
/// If the server may not create a folder, workers with `--outputs-under` create it.
struct SubmittedFolders {
    /// The folder of the server, which is trusted. Symbolic links in it are not followed.
    let outputs: String
    let store: BatchStore
    let logger: Logger

    /// Creates the output folder, the folder of the manifest of `batch`, and the folder of originals.
    /// - Parameters:
    ///   - output: An absolute path in ``outputs``.
    ///   - originals: An absolute path in ``outputs``; empty for none.
    func make(output: String, originals: String, for batch: BatchID) {
        do {
            // If Redis does not answer, the origin is missing. Only a later `darkroom submit` into this folder reads
            // the origin, after the batch is gone.
            let origin = try? store.perform(store.identify())
            try StorageSchemes.place(output).reserve(for: batch, origin: origin, in: outputs)
            if !originals.isEmpty, let path = Folder.part(of: originals, below: outputs) {
                _ = try Folder(trusted: outputs).makeFolderLikeParent(path)
            }
        } catch {
            logger.info(
                "cannot create the folders of a batch, workers that may write there create them",
                [
                    .batch: .text(batch), "folder": .text(output),
                    "detail": .text((error as? SystemFailure)?.text ?? "\(error)"),
                ])
        }
    }
}
