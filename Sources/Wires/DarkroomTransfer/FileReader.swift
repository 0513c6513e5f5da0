import DarkroomConcurrency
import DarkroomFiles

/// Reads the files of `file:` URLs on separate threads, so that a slow disk or network share does not delay
/// transfers.
final class FileReader: Sendable {
    /// The reader has several threads, because a thread that reads from a network share waits most of the time.
    static let maxThreads = 4
    private let threads = ThreadPool("darkroom-files", maxThreads: FileReader.maxThreads)
    private let folders: ReadableFolders

    init(_ folders: ReadableFolders) { self.folders = folders }

    /// Reads the file at `path`, and calls `completion` on a thread of the reader. Stops reading when `unwanted` is
    /// set.
    func read(
        _ path: FilePath, unless unwanted: Latch,
        completion: @escaping @Sendable (Result<(bytes: [UInt8], time: FileTime?), TransferError>) -> Void
    ) {
        threads.perform { [folders] in
            completion(Result { () throws(TransferError) in try folders.contents(ofFile: path, unless: unwanted) })
        }
    }

    /// Ends the threads. Does not wait for a hanging read.
    func close() { threads.close() }
}
