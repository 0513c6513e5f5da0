import DarkroomModel

/// The storage of a batch without an output folder: nothing is stored.
package final class NoStorage: BatchStorage, HeldStorage {
    private let files: BatchFiles

    package init(_ files: BatchFiles) { self.files = files }

    package var isKept: Bool { false }
    package var domains: Set<StorageDomain> { [] }

    package func take() throws(Refusal) -> any HeldStorage { self }

    package func begin(
        _ claimed: ClaimedOperation, _ records: [PhotoRecord], worker: String
    ) throws(StorageFault) -> any OperationSink {
        NoSink(self, files, photos: records.count)
    }

    package func removeRemains(of held: HeldOperation, _ records: [PhotoRecord]) {}
}

private final class NoSink: OperationSink {
    private let files: BatchFiles
    let past: [[UInt8]?]

    let storage: any HeldStorage

    init(_ storage: NoStorage, _ files: BatchFiles, photos: Int) {
        self.storage = storage
        self.files = files
        past = [[UInt8]?](repeating: nil, count: photos)
    }

    func write(
        _ files: [MadeFile], of record: PhotoRecord, attempt: Int, isWanted: () -> Bool
    ) throws(StorageFault) -> [ManifestLine.File]? {
        self.files.described(files) { _ in nil }
    }

    func write(_ lines: [[UInt8]?]) throws(StorageFault) {}
    var barriers: [StorageBarrier] { [] }
    func loss() -> StorageFault? { nil }
    func removeOthers() {}
    func discard() {}
}
