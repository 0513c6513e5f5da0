import DarkroomStorage

/// Reads the results of photos from the manifest in an output folder, without Redis. Workers may be writing to the
/// folder at the same time.
///
/// ```swift
/// for try await entry in PhotoManifest(output: "/mnt/photos").entries() where entry.state == .filtered {
///     print(entry.record.name, entry.files.map(\.path))
/// }
/// ```
public struct PhotoManifest: Sendable {
    private let source: any ManifestSource
    private let output: String

    /// Reading blocks, so it runs on separate threads and not on the threads of Swift tasks.
    private static let threads = CallThreads()

    /// Creates a reader for the manifest in an output folder. Does not read anything yet.
    public init(output: String) {
        source = StorageSchemes.place(output).results.manifest
        self.output = output
    }

    /// Reads the ids of the batches that have written to the folder, earliest submission first.
    /// - Throws: ``DarkroomError`` with the code `manifestUnreadable`.
    public func batches() async throws -> [BatchID] { try await reading { [source] in try source.batches() } }

    /// The entries of a batch, in the order of the photo list; or the entries of all batches, one batch after another.
    /// Photos that are not final have no entry. Keeps only the entries of one operation in memory.
    ///
    /// The sequence throws ``DarkroomError`` with the code `manifestUnreadable`.
    /// - Parameter batch: the batch; nil for all batches.
    public func entries(of batch: BatchID? = nil) -> Entries { Entries(manifest: self, batch: batch) }

    /// The entries of a manifest.
    public struct Entries: AsyncSequence, Sendable {
        fileprivate let manifest: PhotoManifest
        fileprivate let batch: BatchID?

        /// Begins at the first entry.
        public func makeAsyncIterator() -> Iterator {
            Iterator(manifest: manifest, cursor: ManifestCursor(manifest.source, of: batch))
        }

        /// Reads the entries of an operation when the entries before it have been returned.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let manifest: PhotoManifest
            fileprivate var cursor: ManifestCursor
            private var entries: ArraySlice<ManifestEntry> = []

            fileprivate init(manifest: PhotoManifest, cursor: ManifestCursor) {
                self.manifest = manifest
                self.cursor = cursor
            }

            /// Returns the next entry; nil after the last one.
            /// - Throws: ``DarkroomError`` with the code `manifestUnreadable`, or `CancellationError`.
            public mutating func next() async throws -> ManifestEntry? {
                if let entry = entries.popFirst() { return entry }
                let (cursor, lines) = try await manifest.reading { [cursor] in
                    var cursor = cursor
                    let lines = try cursor.next()
                    return (cursor, lines)
                }
                self.cursor = cursor
                entries = lines.map(ManifestEntry.init)[...]
                return entries.popFirst()
            }
        }
    }

    fileprivate func reading<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        do {
            return try await Self.threads.call(body)
        } catch let error as ManifestError {
            throw DarkroomError(error, "read the manifest of \(output)")
        }
    }
}

/// A position in a manifest.
private struct ManifestCursor: Sendable {
    private let source: any ManifestSource
    /// The batches that have not been begun; nil if the batches have not been read yet.
    private var batches: ArraySlice<BatchID>?
    private var batch: BatchID?
    private var parts: ArraySlice<Int> = []
    private var part: (any ManifestPart)?
    private var operations: ArraySlice<Int> = []

    init(_ source: any ManifestSource, of batch: BatchID?) {
        self.source = source
        batches = batch.map { [$0] }
    }

    /// The lines of the next operation that has lines; empty at the end of the manifest.
    mutating func next() throws(ManifestError) -> [ManifestLine] {
        while true {
            if let operation = operations.popFirst(), var part {
                let lines = try part.lines(ofOperation: operation)
                self.part = part
                if !lines.isEmpty { return lines }
            } else if let number = parts.popFirst(), let batch {
                let part = try source.part(number, of: batch)
                self.part = part
                operations = part.operations[...]
            } else {
                if batches == nil { batches = try source.batches()[...] }
                guard let next = batches?.popFirst() else { return [] }
                batch = next
                parts = try source.parts(of: next)[...]
            }
        }
    }
}
