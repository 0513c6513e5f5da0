import DarkroomOutput
import DarkroomWorkerState

/// The data that this worker attaches to an operation: the context and the manifest folder of its batch.
final class OperationFiles: OperationResources {
    let context: BatchContext
    /// The folder of the batch's manifest, opened before any file of the operation; nil if the batch writes no files.
    let folder: OpenFolder?
    /// Fencing tokens of manifest files. They are higher than the token of the claim; see ``ManifestFiles/Past``.
    let forgottenTokens: [Int]

    init(_ context: BatchContext, folder: OpenFolder? = nil, forgottenTokens: [Int] = []) {
        self.context = context
        self.folder = folder
        self.forgottenTokens = forgottenTokens
    }
}

extension OperationResources {
    /// The data that this worker has attached to the operation. A worker attaches no other type.
    var files: OperationFiles {
        guard let files = self as? OperationFiles else { preconditionFailure("unknown resources \(self)") }
        return files
    }
}

extension PhotoTask {
    /// The context of the photo's batch.
    var context: BatchContext { resources.files.context }
}
