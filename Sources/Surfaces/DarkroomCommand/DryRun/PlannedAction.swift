import Darkroom
import DarkroomCoordinator
import DarkroomStorage

/// The action that a command would perform with a list.
enum PlannedAction {
    /// Submit a new batch.
    case submits
    /// Begin a new run.
    case begins
    /// Forget an earlier run, and begin again.
    case beginsAgain(BatchID)
    /// Continue an earlier run that has the results of a part of the photos.
    case continues(BatchID, done: Int)
    /// Run the failed photos of an earlier run.
    case retries(BatchID, failed: Int)
    /// Nothing: an earlier run has the results of all photos.
    case hasFinished(BatchID, failed: Int)

    /// The action of a run. Reads the state and the manifest in the output folder. Does not read the Redis of an
    /// earlier run, and therefore does not know whether the batch of that run was cancelled, see ``warnings``.
    /// - Parameters:
    ///   - identity: The job of the run.
    ///   - conditions: The options of the run that may mend failures of an earlier run.
    ///   - photos: The number of photos in the list.
    /// - Throws: the error that the run would throw if the output folder or an earlier run prevents the run.
    init(
        ofRun identity: RunIdentity, _ conditions: RunConditions, photos: Int, overwrite: Bool, again: Bool, retry: Bool
    ) throws {
        let output = identity.output
        guard let folder = try RunFolder.examine(output: output, overwrite: overwrite) else {
            self = .begins
            return
        }
        if again {
            // An unreadable state file counts as "no batch".
            self = RunFolder.earlier(inOutput: output).map { .beginsAgain($0.batch) } ?? .begins
            return
        }
        guard let state = try RunFolder.noted(in: folder, ofOutput: output) else {
            self = .begins
            return
        }
        try state.requireSame(identity)
        var done = 0
        var (failed, mended) = (0, 0)
        let mendable = Set(state.mendings(under: conditions).reasons.map(\.word))
        try StorageSchemes.place(output).results.manifest.forEachLine(of: state.batch) { line in
            done += 1
            guard let reason = line.reason else { return }
            failed += 1
            if mendable.contains(reason) { mended += 1 }
        }
        guard done <= photos else {
            throw CoordinatorError(
                .listDiffers,
                "output folder \(output): batch \(state.batch) of the earlier run there has the results of "
                    + "\(HumanText.count(done, of: "photo")), and the list has \(HumanText.count(photos)); give the "
                    + "same list, choose another folder, or give --again to develop all photos again over the same files"
            )
        }
        if done < photos {
            self = .continues(state.batch, done: done)
        } else if retry ? failed > 0 : mended > 0 {
            self = .retries(state.batch, failed: retry ? failed : mended)
        } else {
            self = .hasFinished(state.batch, failed: failed)
        }
    }

    var text: String {
        switch self {
        case .submits: "submit a new batch"
        case .begins: "begin a new run"
        case .beginsAgain(let batch): "forget the run of batch \(batch), and develop all photos again"
        case .continues(let batch, let done): "continue the run of batch \(batch), of which \(Self.photos(done)) done"
        case .retries(let batch, let failed):
            "run \(HumanText.count(failed, of: "failed photo")) of batch \(batch) again"
        case .hasFinished(let batch, let failed):
            "do nothing: the run of batch \(batch) has finished this list"
                + (failed > 0 ? " (\(HumanText.count(failed)) failed, --retry runs them again)" : "")
        }
    }

    /// The conditions that may prevent the action.
    var warnings: [String] {
        switch self {
        case .submits, .begins, .beginsAgain: []
        case .continues, .retries, .hasFinished:
            ["the Redis of the earlier run was not read; if its batch was cancelled, only --again runs the list"]
        }
    }

    /// The word for `--json`.
    var word: String {
        switch self {
        case .submits: "submit"
        case .begins: "begin"
        case .beginsAgain: "begin-again"
        case .continues: "continue"
        case .retries: "retry"
        case .hasFinished: "nothing"
        }
    }

    /// The batch of the earlier run; nil if there is none.
    var batch: BatchID? {
        switch self {
        case .submits, .begins: nil
        case .beginsAgain(let batch), .continues(let batch, _), .retries(let batch, _), .hasFinished(let batch, _):
            batch
        }
    }

    private static func photos(_ count: Int) -> String {
        "\(HumanText.count(count, of: "photo")) \(count == 1 ? "is" : "are")"
    }
}
