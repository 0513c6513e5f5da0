import DarkroomOutput

/// The context and the manifest folder of an operation that runs in this worker.
final class OperationFiles: Sendable {
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
