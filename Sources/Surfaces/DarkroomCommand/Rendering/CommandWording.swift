import Darkroom
import DarkroomText

extension RemedyWording {
    /// Remedies as commands and options.
    static let commands = RemedyWording { $0.commandText(\.description) }

    /// Remedies for a run that the user has named by its output folder. The commands contain the folder in place of the
    /// batch's id, because only the folder leads to the private Redis server of a run.
    static func commands(naming run: (batch: String, folder: String)?) -> RemedyWording {
        guard let run else { return .commands }
        return RemedyWording { remedy in
            remedy.commandText { $0.description == run.batch ? ShellWord.quoted(run.folder) : $0.description }
        }
    }

    /// Remedies as commands for other terminals.
    /// - Parameters:
    ///   - batch: the batch of this process.
    ///   - name: the arguments for this batch.
    ///   - address: the Redis option, which is added to commands without this batch.
    static func commands(forOthers batch: BatchID, _ name: String, address: String) -> RemedyWording {
        RemedyWording { remedy in
            var isNamed = false
            let text = remedy.commandText { other in
                isNamed = isNamed || other == batch
                return other == batch ? name : other.description
            }
            return text.contains("darkroom ") && !isNamed ? "\(text) (with \(address))" : text
        }
    }
}

extension Remedy {
    /// - Parameter name: the arguments for a batch in commands.
    fileprivate func commandText(_ name: (BatchID) -> String) -> String {
        switch self {
        case .resume(let batch, let part):
            "go on with: darkroom resume \(batch.map(name) ?? "--all")"
                + (part == .everything ? "" : " --\(part.rawValue)")
        case .suspend(let batch): "hold it with: darkroom suspend \(name(batch))"
        case .cancel(let batch): "end it with: darkroom cancel \(name(batch))"
        case .prioritize(let batch, let priority):
            "to run it first: darkroom prioritize \(name(batch)) \(priority.rawValue)"
        case .clearFocus(let batch): "resume them with: darkroom focus \(name(batch)) --clear"
        case .removeDependency(let batch, let other):
            "remove the dependency with: darkroom depend \(name(batch)) --on \(name(other)) --remove"
        case .forget(let batch): "remove it with: darkroom forget \(name(batch)) --force"
        case .forgetFinished: "forgetting finished batches also frees memory: darkroom forget BATCH"
        case .submitAgain(let batch):
            "remove it with: darkroom forget \(name(batch)) --force, and submit its list again"
        case .submitAgainOverwriting: "submit the list again as a new batch, with --overwrite into the same folder"
        case .feedRest(let batch): "if it is gone, go on with: darkroom submit LIST --resume \(name(batch))"
        case .feedGrownList(let batch): "feed a list that has grown with: darkroom submit LIST --resume \(name(batch))"
        case .retry(let batch):
            "run its failed photos again with: darkroom retry" + (batch.map { " " + name($0) } ?? "")
        case .retryWithList(let batch): "with the list they can run again: darkroom retry \(name(batch)) --list LIST"
        case .takeOutputBack(let batch): "take the folder back with: darkroom retry \(name(batch)) --overwrite"
        case .overwrite: "overwrite its photos with --overwrite"
        case .listPhotos(let output): "to list its photos: darkroom manifest \(ShellWord.quoted(output))"
        case .listBatches: "\"darkroom batches\" lists them"
        case .showProblems: "darkroom status shows its problems"
        case .startWorker: "start one with: darkroom worker"
        case .allowOutput: "start a worker with --outputs-under and a folder above it"
        case .allowFiles: "--files-under FOLDER allows a worker to read files"
        case .allowMoreConnections: "more connections: darkroom worker --per-host COUNT"
        case .changeRate: "another rate of requests: darkroom worker --rate COUNT/s"
        case .acceptSlowerDownloads: "to accept slower downloads: darkroom worker --min-rate SIZE"
        case .allowAddresses: "--allow-private, --allow-networks and --allow-hosts allow more"
        case .allowMorePixels: "--max-pixels allows more"
        case .allowMoreTime: "--photo-timeout allows more"
        case .showHosts: "darkroom hosts shows the hosts and what to do"
        case .checkNames:
            "check the name servers with: darkroom doctor --resolve HOST; others: darkroom worker --name-servers ADDRESSES"
        case .checkOutput: "check the output folder with: darkroom doctor --output FOLDER"
        case .chooseColumns: "to choose other columns, use --url-column and --name-column"
        case .chooseQuotes:
            "--quotes literal reads quotation marks as text, --quotes csv as the ends of fields"
        case .readQuotesAsText: "use --quotes literal if quotes are text in this list"
        case .includeSubfolders: "--recursive looks into subfolders"
        case .checkReplicas: "check the replicas: darkroom doctor"
        case .useSmallerWindow: "submit with a smaller --window, so that Redis holds fewer operations at once"
        case .useLargerOperations: "a larger --operation-size"
        case .useSmallerOperations: "a smaller --operation-size"
        case .advice, .submitElsewhere, .startMoreWorkers, .startAcceptingWorker: neutralText
        }
    }
}
