/// A condition that keeps a batch, or all batches, from going on, and what a user can do about it.
package struct BatchProblem: Sendable, Hashable {
    /// What kind of problem it is; more may be added.
    package enum Code: String, Sendable, CaseIterable, Codable {
        /// What Redis holds of the batch is out of bounds, so no worker runs it.
        case damaged
        /// The whole cluster is suspended, or one of the two queues in all workers.
        case clusterSuspended = "cluster-suspended"
        case clusterDownloadsSuspended = "cluster-downloads-suspended"
        case clusterFiltrationsSuspended = "cluster-filtrations-suspended"
        /// The batch is suspended, or one of the two queues of it.
        case suspended
        case downloadsSuspended = "downloads-suspended"
        case filtrationsSuspended = "filtrations-suspended"
        /// The list is not fed to its end, and its feeder has been silent for 30 s.
        case feederSilent = "feeder-silent"
        /// It waits for a batch that goes on.
        case waiting
        /// It waits for a batch that does not go on.
        case dependencyStuck = "dependency-stuck"
        /// A focus holds all but some photos back.
        case focusOnly = "focus-only"
        /// There is no living worker.
        case noWorker = "no-worker"
        /// No worker sees a folder of the batch.
        case folderMissing = "folder-missing"
        /// Another batch has taken its output folder.
        case folderTaken = "folder-taken"
        /// The batch needs a worker option, such as `--files-under`, and no worker was started with it.
        case optionMissing = "option-missing"
        /// No worker has room on the disk of the output folder.
        case diskFull = "disk-full"
        /// No worker takes it, for another reason or for several.
        case refused
    }

    /// The batch; nil is the cluster, and so every batch.
    package let batch: BatchID?
    /// What kind of problem it is.
    package let code: Code
    /// What was found, as the second part of a sentence about the batch: `it is suspended`.
    package let text: String
    /// What helps, mostly with a command: `go on with: darkroom resume 20261121-090501123-7f3a`.
    package let remedy: String

    /// A problem of a batch, or of the cluster.
    package init(_ code: Code, of batch: BatchID?, text: String, remedy: String) {
        self.batch = batch
        self.code = code
        self.text = text
        self.remedy = remedy
    }

    /// The problem and what helps, in one line: `batch 20261121-090501123-7f3a: it is suspended; go on with: darkroom ...`.
    package func sentence(among batches: [BatchFacts]) -> String {
        let subject = batch.map { id in "batch \(batches.first { $0.id == id }?.label ?? id.description): " } ?? ""
        return subject + sentence
    }

    /// The problem and what helps, without the batch.
    package var sentence: String { HumanText.safe("\(text); \(remedy)") }
}
