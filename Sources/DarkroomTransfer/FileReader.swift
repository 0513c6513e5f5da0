import DarkroomConcurrency

/// Reads the files of `file:` URLs on threads of its own, so that neither a disk nor a network share holds up the transfers.
final class FileReader: Sendable {
    /// Several, since on a network share reading is waiting.
    static let maxThreads = 4
    private let threads = ThreadPool("darkroom-files", maxThreads: FileReader.maxThreads)
    private let folders: ReadableFolders

    /// Reads files below `folders`.
    init(_ folders: ReadableFolders) { self.folders = folders }

    /// Reads the file at `path` and hands it to `completion` on a thread of the reader; goes no further once it is `unwanted`.
    func read(
        _ path: String, unless unwanted: Latch, completion: @escaping @Sendable (Result<[UInt8], Refusal>) -> Void
    ) {
        threads.perform { [folders] in
            completion(Result { () throws(Refusal) in try folders.contents(ofFile: path, unless: unwanted) })
        }
    }

    /// Lets the threads end; a read that hangs is not waited for.
    func close() { threads.close() }
}
