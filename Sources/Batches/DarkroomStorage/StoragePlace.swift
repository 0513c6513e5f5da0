import DarkroomModel

/// A place for the results of batches, such as a folder. Several batches may use a place one after another; the batch
/// that took the place last holds it.
///
/// All methods block.
package protocol StoragePlace: Sendable {
    /// The beginning of the locations of all places of this kind, for example `s3://`.
    static var beginning: String { get }

    /// - Parameter location: a text with the beginning of this kind. If it is not valid, the methods report that.
    init(location: String)

    /// The canonical form of a location that a user names: a place, or a location that contains places, see
    /// ``isIn(_:)``. Does not access the place.
    /// - Throws: ``StorageError`` if the location is not valid. The problem does not contain the location.
    static func canonical(_ location: String) throws(StorageError) -> String

    /// The text of the place in the options of a batch.
    var location: String { get }

    /// The place in messages, for example `output folder /photos`.
    var title: String { get }

    /// Whether the place is the same as another location, or in it. Compares only the texts.
    func isIn(_ location: String) -> Bool

    /// The name, in messages, of the storage that does not answer if an access to the place hangs, for example
    /// `the file system at /mnt`. Places with the same name hang together. Returns without an access to the place.
    /// - Parameter links: the paths of folders that are symbolic links, with their real paths.
    func hangDomain(_ links: [String: String]) -> String

    // MARK: Submitting

    /// Whether files of a batch would be photos of a folder of photos, when that folder is read again as a list.
    /// - Parameters:
    ///   - photos: the real path of the folder of photos.
    ///   - renditions: the names of the batch's renditions.
    func mixes(with photos: String, renditions: [String]) -> Bool

    /// Whether the place exists. Throws if the place cannot be created or is not writable, or if renditions with these
    /// names cannot be written. The check writes nothing, so it cannot find every such place.
    func examine(renditions: [String]) throws(StorageError) -> Bool

    /// Creates the place for a batch, and the marker by which workers recognize the right place.
    /// - Parameter origin: the id of the Redis data to which the batch belongs; nil if it is not known.
    func reserve(for batch: BatchID, origin: Int?) throws(StorageError)

    /// Creates the place for a batch that an untrusted user has submitted: in the folder `trusted`, without following
    /// links in it. New folders have the owner and the mode of the folder above them. Does nothing if the place is not
    /// in `trusted`.
    func reserve(for batch: BatchID, origin: Int?, in trusted: String) throws(StorageError)

    /// Removes the marker that ``reserve(for:origin:)`` has created, and the manifest of the batch. An error is
    /// ignored, since the next submission reports the remains.
    func withdraw(_ batch: BatchID)

    /// The batches that have a manifest in the place, sorted by id.
    func batches() throws(StorageError) -> [BatchID]

    /// Whether no manifest line of a batch was stored. False if the manifest cannot be read.
    func isUntouched(by batch: BatchID) -> Bool

    /// The id of the Redis data to which a batch belongs, see `BatchStore.identify()`; nil if it is not known.
    func origin(of batch: BatchID) -> Int?

    /// The holder of the place, and the number that Redis gave it (see `BatchFacts.outputTaken`); nil if no batch has
    /// taken the place, or if the manifest of the holder no longer exists.
    var holder: (batch: BatchID, taken: Int)? { get }

    /// The number of the batch that took the place last, even if its manifest no longer exists; 0 if no number is
    /// found. The batch with the largest number holds the place.
    var lastTaken: Int { get }

    // MARK: Working

    /// Opens the place for the operations of a batch in a worker.
    /// - Parameters:
    ///   - taken: the number that the batch received when it took the place.
    ///   - willAccess: called with each location before it is accessed, since the access may hang.
    /// - Throws: ``Refusal`` if this worker cannot use the place.
    func storage(
        of files: BatchFiles, taken: Int, _ rules: StorageRules, willAccess: (_ location: String) -> Void
    ) throws(Refusal) -> any BatchStorage

    // MARK: Reading

    /// The location of the manifest of a batch, in messages.
    func manifestLocation(of batch: BatchID) -> String

    /// The results, read without Redis.
    var results: any StoredResults { get }

    /// The results for a process that may read only some places.
    /// - Returns: nil if the process may not read this place.
    func results(in trusted: TrustedPlaces) -> (any StoredResults)?
}

/// The results in a place.
package protocol StoredResults: Sendable {
    /// - Parameter maxFileBytes: the maximum size of a manifest file that is read, in bytes.
    func manifest(maxFileBytes: Int) -> any ManifestSource

    /// Opens the file of a photo. Blocks.
    /// - Parameter file: the path in a ``ManifestLine``.
    func open(_ file: String) throws(StoredFileError) -> StoredFile
}

extension StoredResults {
    /// Reads files of up to 256 MiB. The files of a manifest are smaller, because an entry has at most 1 MiB.
    package var manifest: any ManifestSource { manifest(maxFileBytes: 1 << 28) }
}

/// An open file of a photo.
package struct StoredFile {
    /// An open descriptor of a file. The caller closes it.
    package let descriptor: Int32
    /// The size of the file, in bytes.
    package let size: Int
    /// A text that changes when the file is replaced or written to.
    package let version: String

    package init(descriptor: Int32, size: Int, version: String) {
        self.descriptor = descriptor
        self.size = size
        self.version = version
    }
}

/// The reason why a file of a photo cannot be opened.
package struct StoredFileError: Error, Sendable {
    package let isMissing: Bool
    package let text: String

    package init(isMissing: Bool, _ text: String) {
        self.isMissing = isMissing
        self.text = text
    }
}

extension StoragePlace {
    package var title: String { "output \(location)" }

    package func mixes(with photos: String, renditions: [String]) -> Bool { false }

    /// The batch that took the place after `batch`, even if Redis has forgotten it; nil if there is none.
    package func taker(since batch: BatchFacts) -> BatchID? {
        guard let holder, holder.batch != batch.id, holder.taken >= batch.outputTaken else { return nil }
        return holder.batch
    }

    /// Throws if a batch other than `batch` has a manifest in the place.
    /// - Parameters:
    ///   - batch: a batch that may have a manifest in the place; nil for none.
    ///   - origin: the id of the Redis data that `isGone` reads, see `BatchStore.identify()`; nil for none.
    ///   - isGone: returns whether a batch is missing in these data. A manifest is ignored if a killed submission has
    ///     left it: the manifest is empty, its batch belongs to these data and is missing there, and no worker took the
    ///     place for the batch.
    package func checkFree(
        for batch: BatchID? = nil, origin: Int? = nil, isGone: (BatchID) -> Bool = { _ in false }
    ) throws(StorageError) {
        let holder = holder?.batch
        func isLeft(_ other: BatchID) -> Bool {
            guard let origin, other != holder, isUntouched(by: other), self.origin(of: other) == origin else {
                return false
            }
            return isGone(other)
        }
        guard let other = try batches().last(where: { $0 != batch && !isLeft($0) }) else { return }
        throw StorageError(
            .taken,
            "\(title): it has the photos of batch \(other) (its manifest is \(manifestLocation(of: other))); choose another "
                + "output", .overwrite, .feedGrownList(other))
    }
}
