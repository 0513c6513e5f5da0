import DarkroomModel

/// Stores the results of one batch: the files of its photos, and its manifest.
///
/// A storage guarantees to all workers and readers:
/// - A file gets its name when it is complete. From then on, no worker removes it.
/// - The name of a photo's file depends only on the photo, on the options of the batch, and on the format of the file. If a
///   photo is developed twice, the second file replaces the first.
/// - The lines of an operation are stored with the fencing token of its claim. Readers take the line of a photo with the
///   highest token.
/// - After another batch has taken the place, no file of this batch gets its name.
///
/// All methods block.
package protocol BatchStorage: AnyObject, Sendable {
    /// Whether files are stored. If not, photos are developed without any result but their counts.
    var isKept: Bool { get }

    /// Makes this batch the holder of the place. Called for each claimed operation, before ``HeldStorage/begin(_:_:worker:)``.
    /// If the storage is full, the place may be taken only with a later claim.
    /// - Throws: ``Refusal`` if this worker cannot write to the place, or if another batch has taken it.
    func take() throws(Refusal) -> any HeldStorage

    /// Removes the incomplete files of crashed workers that held an operation with the fencing token of `held` or a lower
    /// token. No worker will claim this operation again. Complete files stay. An error is ignored, because incomplete files
    /// do no harm.
    /// - Parameter records: the photos of the operation, of which only the indexes are known.
    func removeRemains(of held: HeldOperation, _ records: [PhotoRecord])
}

/// A place that the batch holds. The place stays open as long as this value or one of its sinks exists.
package protocol HeldStorage: AnyObject, Sendable {
    /// The domains to which the batch writes. If a domain fails, all batches that write to it wait.
    var domains: Set<StorageDomain> { get }

    /// Begins to store the results of a claimed operation. If earlier holders of the operation have crashed, removes their
    /// incomplete files.
    /// - Parameters:
    ///   - records: the photos of the operation, in the order of the list.
    ///   - worker: the id of the worker.
    /// - Throws: ``StorageFault`` if earlier claims may have stored lines that cannot be read now, see ``PastLines``.
    func begin(
        _ claimed: ClaimedOperation, _ records: [PhotoRecord], worker: String
    ) throws(StorageFault) -> any OperationSink
}

/// The results of one claimed operation.
///
/// A worker writes the files of each photo, then the lines of the final photos. The worker then waits for the
/// ``barriers``, and reports the photos to Redis. A photo counts only after its report.
package protocol OperationSink: AnyObject, Sendable {
    /// By position, the lines of the photos that were final before this claim. If the stored lines of a final photo are
    /// missing or damaged, its line is made from its state code and its files. See ``PastLines``.
    var past: [[UInt8]?] { get }

    /// Writes the files of a photo: all of them, or none. After an error of a storage that cannot name all files at
    /// once, some files may have their names; these files are replaced when the photo is developed again.
    /// - Parameters:
    ///   - files: one for each ``BatchFiles/kinds``.
    ///   - attempt: the number of the attempt to develop a photo, unique among all photos of the worker.
    ///   - isWanted: called directly before the files get their names; if it returns false, no file is left.
    /// - Returns: the files for the manifest; nil if `isWanted` returned false.
    func write(
        _ files: [MadeFile], of record: PhotoRecord, attempt: Int, isWanted: () -> Bool
    ) throws(StorageFault) -> [ManifestLine.File]?

    /// Stores the manifest lines of the final photos, by position. Replaces the lines that this sink wrote before. Does nothing
    /// if there are no lines.
    func write(_ lines: [[UInt8]?]) throws(StorageFault)

    /// The place to which this sink writes. If ``loss()`` reports a fault, the files of all sinks with this place are lost.
    var storage: any HeldStorage { get }

    /// One barrier for each domain to which this sink writes; empty if each write is durable.
    var barriers: [StorageBarrier] { get }

    /// Returns the reason why files that were written before can no longer be reached, for example because another file
    /// system is mounted there; nil if the files can be reached. The scope of the fault is `.file` if new files can be
    /// written.
    func loss() -> StorageFault?

    /// Removes the lines that earlier claims stored, after this claim has stored all lines, see ``PastLines/obsolete(_:)``.
    /// Does nothing if this claim has stored no lines. An error is ignored, since readers take the line with the highest
    /// fencing token.
    func removeOthers()

    /// Removes the lines that this sink has stored, because the photos of these lines are not reported.
    func discard()
}

/// Makes all earlier writes to a domain durable.
package struct StorageBarrier: Sendable {
    package let domain: StorageDomain
    /// The time at which the domain was opened. A barrier reports all errors of the domain since this time. Therefore,
    /// of several barriers of a domain, a worker calls only the barrier that was opened first.
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
