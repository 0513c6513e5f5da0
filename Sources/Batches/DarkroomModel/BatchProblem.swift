/// A condition that stops a batch or all batches, with its remedies.
package struct BatchProblem: Sendable, Hashable {
    /// The kind of problem. More kinds may be added.
    package enum Code: String, Sendable, CaseIterable, Codable {
        /// The data of the batch in Redis is damaged, so no worker runs the batch.
        case damaged
        /// The counters of the batch in Redis contradict its queue, so some of its operations may not run. Workers,
        /// coordinators and commands repair the batch.
        case inconsistent
        /// The cluster, all its downloads, or all its filtrations are suspended.
        case clusterSuspended = "cluster-suspended"
        case clusterDownloadsSuspended = "cluster-downloads-suspended"
        case clusterFiltrationsSuspended = "cluster-filtrations-suspended"
        /// The batch, its downloads, or its filtrations are suspended.
        case suspended
        case downloadsSuspended = "downloads-suspended"
        case filtrationsSuspended = "filtrations-suspended"
        /// The list has not been fed completely, and its feeder has sent no heartbeat for 30 s.
        case feederSilent = "feeder-silent"
        /// The batch waits for a batch that makes progress.
        case waiting
        /// The batch waits for a batch that makes no progress.
        case dependencyStuck = "dependency-stuck"
        /// The batch runs only operations with photos in its focus.
        case focusOnly = "focus-only"
        /// No worker is running.
        case noWorker = "no-worker"
        /// No worker can access a folder of the batch.
        case folderMissing = "folder-missing"
        /// Another batch has taken the output folder.
        case folderTaken = "folder-taken"
        /// The batch needs files or folders that no running worker may use.
        case optionMissing = "option-missing"
        /// Every worker reports that the disk of the output folder is full.
        case diskFull = "disk-full"
        /// Every worker refuses the batch, for a reason not listed above or for several different reasons.
        case refused
        /// No photo of the batch has run for 10 s: its downloads wait for connections to a host, or for a next attempt.
        case waitsForHost = "waits-for-host"
        /// No photo of the batch has run for 10 s: the workers run other batches.
        case waitsForWorkers = "waits-for-workers"

        /// Whether no photo of a batch with this problem runs.
        var stopsEveryPhoto: Bool {
            switch self {
            case .damaged, .noWorker, .folderMissing, .folderTaken, .optionMissing, .diskFull, .refused, .waitsForHost,
                .waitsForWorkers:
                true
            default: false
            }
        }
    }

    /// The batch; nil if the problem affects the cluster, and therefore every batch.
    package let batch: BatchID?
    package let code: Code
    /// The problem, as a clause that follows the name of the batch, for example `it is suspended`.
    package let text: String
    package let remedies: [Remedy]

    package init(_ code: Code, of batch: BatchID?, text: String, remedies: [Remedy]) {
        self.batch = batch
        self.code = code
        self.text = text
        self.remedies = remedies
    }

    /// The problem and its remedies in one line: `batch 20261121-090501123-7f3a: it is suspended; resume it`.
    package func sentence(among batches: [BatchFacts], _ wording: RemedyWording = .neutral) -> String {
        let subject = batch.map { id in "batch \(batches.first { $0.id == id }?.label ?? id.description): " } ?? ""
        return subject + sentence(wording)
    }

    /// The problem and its remedies, without the name of the batch.
    package func sentence(_ wording: RemedyWording = .neutral) -> String {
        HumanText.safe(wording.sentence(text, remedies))
    }
}
