import DarkroomModel

/// Where the results of one batch are stored: the files of its photos, and its manifest.
///
/// A storage guarantees to all workers and readers:
/// - A file is complete as soon as it has its name. Nobody removes a file that has its name.
/// - The name of a photo's file depends on the photo and on the options of the batch only. If a photo is developed twice, the
///   second file replaces the first.
/// - The lines of an operation are stored with the fencing token of its claim. Readers take the line of a photo with the
///   highest token.
/// - After another batch has taken the place, no file of this batch gets its name.
///
/// All methods block.
package protocol BatchStorage: AnyObject, Sendable {
    /// Whether files are stored. If not, the only results of developing photos are their counts.
    var isKept: Bool { get }

    /// Makes this batch the holder of the place. Called for each claimed operation, before ``HeldStorage/begin(_:_:worker:)``.
    /// - Throws: ``Refusal`` if this worker cannot write to the place, or if another batch has taken it.
    func take() throws(Refusal) -> any HeldStorage

    /// Removes the remains that crashed workers have left of an operation that no worker will claim again: their
    /// temporary files with the fencing token of `held` or a lower token. Files with final names stay. An error is
    /// ignored, since remains do no harm.
    func removeRemains(of held: HeldOperation, _ records: [PhotoRecord])
}

/// A place that the batch holds. It stays open as long as this value or one of its sinks exists.
package protocol HeldStorage: AnyObject, Sendable {
    /// What the batch writes to. If one of these domains fails, all batches that write to it wait.
    var domains: Set<StorageDomain> { get }

    /// Begins to store the results of a claimed operation. If workers that held the operation before have crashed,
    /// removes their remains.
    /// - Parameters:
    ///   - records: the photos of the operation, in the order of the list.
    ///   - worker: the id of the worker.
    func begin(_ claimed: ClaimedOperation, _ records: [PhotoRecord], worker: String) -> any OperationSink
}

/// The results of one claimed operation.
///
/// A worker writes the files of each photo, then the lines of the final photos. It then waits for the ``barriers``, and
/// reports the photos to Redis. They count only after this report.
package protocol OperationSink: AnyObject, Sendable {
    /// By position, the lines of the photos that were final before this claim. If the stored lines of a final photo are
    /// missing or damaged, its line is made from its state code and its files.
    var past: [[UInt8]?] { get }

    /// Writes the files of a photo: all of them, or none.
    /// - Parameters:
    ///   - files: one for each ``BatchFiles/kinds``.
    ///   - attempt: the number of the attempt to develop a photo, unique among all photos of the worker.
    ///   - isWanted: called directly before the files get their names; if it returns false, no file is left.
    /// - Returns: the files for the manifest; nil if `isWanted` returned false.
    func write(
        _ files: [MadeFile], of record: PhotoRecord, attempt: Int, isWanted: () -> Bool
    ) throws(StorageFault) -> [ManifestLine.File]?

    /// Stores the manifest lines of the final photos, by position. Replaces the lines that this sink wrote before.
    func write(_ lines: [[UInt8]?]) throws(StorageFault)

    /// The calls after which everything that was written before is durable.
    var barriers: [StorageBarrier] { get }

    /// Returns why files that were written before can no longer be reached, for example because something else is mounted
    /// there; nil if they can be reached. The scope of the fault is `.file` if new files can be written.
    func loss() -> StorageFault?

    /// Removes the lines that earlier claims stored, after this claim has stored all lines. An error is ignored, since
    /// readers take the line with the highest fencing token.
    func removeOthers()

    /// Removes the lines that this sink has stored, since they are not reported.
    func discard()
}

/// A call that makes everything durable that was written to a domain before.
package struct StorageBarrier: Sendable {
    package let domain: StorageDomain
    /// When the domain was opened. An error of the domain is reported to each barrier that was opened before it.
    /// Therefore a worker needs only the oldest barrier of a domain.
    package let opened: ContinuousClock.Instant
    /// - Throws: ``StorageFault`` if files may be lost. The error is reported once, although all files that were written
    ///   to the domain and not reported may be lost.
    package let makeDurable: @Sendable () throws(StorageFault) -> Void

    package init(
        domain: StorageDomain, opened: ContinuousClock.Instant,
        makeDurable: @escaping @Sendable () throws(StorageFault) -> Void
    ) {
        self.domain = domain
        self.opened = opened
        self.makeDurable = makeDurable
    }
}

/// Why a worker cannot run a batch.
package struct Refusal: Error, Equatable {
    package let reason: String
    /// Whether the reason is that another batch has taken the place. The refused batch may take it back later.
    package let isOfHolder: Bool

    package init(reason: String, isOfHolder: Bool = false) {
        self.reason = reason
        self.isOfHolder = isOfHolder
    }
}
