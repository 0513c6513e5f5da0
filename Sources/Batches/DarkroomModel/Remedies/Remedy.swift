/// An action by which a user can solve a problem.
///
/// A remedy names no command, option or button: each surface has a separate wording for it, see ``RemedyWording``.
package enum Remedy: Sendable, Hashable {
    /// No action in Darkroom: the problem ends by itself, or its cause is outside of Darkroom. The text is the same on
    /// every surface.
    case advice(String)

    // MARK: Batches

    /// Resume a part of a batch, or of the cluster if the batch is nil.
    case resume(BatchID?, QueuePart)
    case suspend(BatchID)
    case cancel(BatchID)
    /// Raise the priority of a batch, so that it runs before other batches.
    case prioritize(BatchID, BatchPriority)
    /// Clear the focus of a batch, so that its other operations run.
    case clearFocus(BatchID)
    case removeDependency(of: BatchID, on: BatchID)
    /// Remove a batch from Redis, even if it has not finished.
    case forget(BatchID)
    /// Remove finished batches from Redis.
    case forgetFinished
    /// Remove a damaged batch from Redis, and submit its list again.
    case submitAgain(insteadOf: BatchID)
    /// Submit the list as a new batch that overwrites the photos of the cancelled batch.
    case submitAgainOverwriting
    /// Submit the list as a new batch with another output folder.
    case submitElsewhere
    /// Feed the rest of the list of a batch.
    case feedRest(BatchID)
    /// Feed the photos that were appended to the list of a batch.
    case feedGrownList(BatchID)
    /// Run the failed photos of a batch again.
    case retry(BatchID?)
    /// Run the failed photos of a batch again; the list of the batch supplies their names and URLs.
    case retryWithList(BatchID)
    /// Run the failed photos of a batch again, and overwrite the photos of the other batch that has taken the output
    /// folder.
    case takeOutputBack(BatchID)
    /// Overwrite the photos of the batch that has the output folder.
    case overwrite
    /// Look at the photos in an output folder without Redis.
    case listPhotos(inOutput: String)
    case listBatches
    case showProblems

    // MARK: Workers

    case startWorker
    case startMoreWorkers
    /// Start a worker that accepts a batch which the running workers refuse.
    case startAcceptingWorker
    /// Allow a worker to write to the folders of the batch.
    case allowOutput
    /// Allow a worker to read local files that the batch needs.
    case allowFiles
    /// Allow workers more connections to a host.
    case allowMoreConnections
    /// Change the rate of requests of workers.
    case changeRate
    /// Let workers accept slower downloads.
    case acceptSlowerDownloads
    /// Allow workers more addresses or hosts.
    case allowAddresses
    /// Allow workers photos with more pixels.
    case allowMorePixels
    /// Give workers more time to develop a photo.
    case allowMoreTime
    /// Show the hosts of photos with their states.
    case showHosts
    /// Check how host names are looked up, or use other name servers.
    case checkNames
    /// Check the disk of an output folder.
    case checkOutput

    // MARK: Lists

    /// Choose the columns of names and URLs.
    case chooseColumns
    /// Choose whether quotation marks are text or the ends of fields.
    case chooseQuotes
    /// Read quotation marks as text.
    case readQuotesAsText
    /// Look for photos in subfolders too.
    case includeSubfolders

    // MARK: Feeding and Redis

    case checkReplicas
    /// Let Redis contain fewer operations at the same time.
    case useSmallerWindow
    case useLargerOperations
    case useSmallerOperations
}

/// The wording of remedies on one surface.
package struct RemedyWording: Sendable {
    private let words: @Sendable (Remedy) -> String

    /// - Parameter words: returns the wording of one remedy: a clause that follows a semicolon.
    package init(_ words: @escaping @Sendable (Remedy) -> String) { self.words = words }

    package func text(_ remedy: Remedy) -> String { words(remedy) }

    /// The wording of remedies in this order, separated by semicolons.
    package func text(_ remedies: [Remedy]) -> String { remedies.map(words).joined(separator: "; ") }

    /// A problem with its remedies.
    package func sentence(_ problem: String, _ remedies: [Remedy]) -> String {
        guard !remedies.isEmpty else { return problem }
        return problem + (problem.hasSuffix("?") ? " " : "; ") + text(remedies)
    }

    /// A wording that fits every surface: it names no command, option or button.
    package static let neutral = RemedyWording { $0.neutralText }
}

/// A problem with remedies, for example an error. Its description uses ``RemedyWording/neutral``.
package protocol Remediable: Sendable, CustomStringConvertible {
    /// The failed action, its object, and the cause.
    var problem: String { get }
    var remedies: [Remedy] { get }
}

extension Remediable {
    package var description: String { RemedyWording.neutral.sentence(problem, remedies) }
}

extension RemedyWording {
    package func text(_ problem: any Remediable) -> String { sentence(problem.problem, problem.remedies) }

    /// The text of an error, with the remedies of the error in the words of this surface.
    package func text(of error: any Error) -> String {
        (error as? any Remediable).map { text($0) } ?? "\(error)"
    }
}
