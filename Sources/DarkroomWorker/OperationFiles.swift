import DarkroomOutput
import DarkroomStore
import DarkroomWorkerState

/// What this worker attaches to an operation: its batch's context and folders.
final class OperationFiles: OperationResources {
    let context: BatchContext
    /// The folder of the batch's manifest, open since before anything of the operation was written; nil when nothing is.
    let folder: OpenFolder?
    /// Higher fences of which manifest files were there when it was claimed, see ``ManifestFiles/Past``.
    let forgottenFences: [Int]

    init(_ context: BatchContext, folder: OpenFolder? = nil, forgottenFences: [Int] = []) {
        self.context = context
        self.folder = folder
        self.forgottenFences = forgottenFences
    }

    /// Removes the manifest files of other claims of an operation that has ended here.
    func removeOtherManifests(of held: HeldOperation) {
        ManifestFiles.removeOthers(held, forgotten: forgottenFences, context.output)
    }
}

extension OperationResources {
    /// The data that this worker attached; it attaches nothing else.
    var files: OperationFiles { unsafeDowncast(self, to: OperationFiles.self) }
}

extension PhotoTask {
    /// What the worker knows of the photo's batch.
    var context: BatchContext { resources.files.context }
}
