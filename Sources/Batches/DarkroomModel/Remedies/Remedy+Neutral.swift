extension Remedy {
    /// The wording of this remedy on surfaces that have no separate wording for it.
    package var neutralText: String {
        switch self {
        case .advice(let text): text
        case .resume: "resume it"
        case .suspend: "suspend it instead"
        case .cancel(let batch): "cancel batch \(batch)"
        case .prioritize(_, let priority): "to run it first, set its priority to \(priority.rawValue)"
        case .clearFocus: "clear the focus"
        case .removeDependency(let batch, let other): "remove the dependency of batch \(batch) on \(other)"
        case .forget(let batch): "forget batch \(batch)"
        case .forgetFinished: "forgetting finished batches also frees memory"
        case .submitAgain: "forget it, and submit its list again"
        case .submitAgainOverwriting: "submit the list again as a new batch that overwrites the same folder"
        case .submitElsewhere: "submit the list as a new batch into another folder"
        case .feedRest: "if it is gone, feed the rest of the list"
        case .feedGrownList(let batch): "if the list has grown, feed its rest to batch \(batch)"
        case .retry: "run the failed photos again later"
        case .retryWithList: "with the list, these photos can run again"
        case .takeOutputBack: "retry it, and let it overwrite the photos in the folder"
        case .overwrite: "let it overwrite these photos"
        case .listPhotos(let output): "the manifest in \(output) lists its photos"
        case .listBatches: "the list of batches shows those that exist"
        case .showProblems: "the status of the batch shows its problems"
        case .startWorker: "start a worker"
        case .startMoreWorkers: "start more workers"
        case .startAcceptingWorker: "start a worker that takes it"
        case .allowOutput: "start a worker that may write there"
        case .allowFiles: "start a worker that may read these files"
        case .allowMoreConnections: "allow the workers more connections to a host"
        case .changeRate: "change the rate of requests of the workers"
        case .acceptSlowerDownloads: "let the workers accept slower downloads"
        case .allowAddresses: "allow the workers more addresses or hosts"
        case .allowMorePixels: "allow the workers photos with more pixels"
        case .allowMoreTime: "allow the workers more time for a photo"
        case .showHosts: "the list of hosts shows the servers and what to do"
        case .checkNames: "check the name servers"
        case .checkOutput: "check the disk of the output folder"
        case .chooseColumns: "choose the columns of names and URLs if these are wrong"
        case .chooseQuotes: "choose whether quotation marks are text or the ends of fields"
        case .readQuotesAsText: "if quotes are text in this list, read them as text"
        case .includeSubfolders: "subfolders can be included"
        case .checkReplicas: "check the replicas"
        case .useSmallerWindow: "submit with a smaller window, so that Redis holds fewer operations at once"
        case .useLargerOperations: "submit with larger operations"
        case .useSmallerOperations: "submit with smaller operations"
        }
    }
}

extension FailureReason {
    /// The remedies for photos that failed for this reason; empty if no remedy is known.
    package var remedies: [Remedy] {
        switch self {
        case .addressDenied: [.allowAddresses]
        case .fileDenied: [.allowFiles]
        case .tooManyPixels: [.allowMorePixels]
        case .filterTimeout: [.allowMoreTime]
        default: []
        }
    }
}
