import DarkroomOutput
import DarkroomWorkerState

/// The data that this worker attaches to an operation: its batch's context and folders.
final class OperationFiles: OperationResources {
    let context: BatchContext
    /// The folder of the batch's manifest, opened before any file of the operation was written; nil if the batch writes nothing.
    let folder: OpenFolder?
    /// The higher fencing tokens of the manifest files found when the operation was claimed, see ``ManifestFiles/Past``.
    let forgottenTokens: [Int]

    init(_ context: BatchContext, folder: OpenFolder? = nil, forgottenTokens: [Int] = []) {
        self.context = context
        self.folder = folder
        self.forgottenTokens = forgottenTokens
    }
}

extension OperationResources {
    /// The data that this worker attached. It attaches no other type.
    var files: OperationFiles {
        guard let files = self as? OperationFiles else { preconditionFailure("unknown resources \(self)") }
        return files
    }
}

extension PhotoTask {
    /// The context of the photo's batch.
    var context: BatchContext { resources.files.context }
}
