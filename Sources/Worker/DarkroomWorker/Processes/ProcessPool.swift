import DarkroomConcurrency
import DarkroomModel
import Foundation

/// A process that develops photos, one after the other.
protocol PooledProcess: Sendable {
    /// The number of photos that the process has developed.
    var photos: Int { get }
    /// Whether the process can get another photo.
    var isUsable: Bool { get }
    func end()
}

/// Why a process was not started.
struct StartFailure: Error {
    enum Retry {
        case never
        case atOnce
        /// The machine lacks processes, open files, memory or disk space. Another start after a pause may succeed.
        case afterPause
    }

    let detail: String
    var reason = FailureReason.other
    var retry = Retry.afterPause
}

/// The result of a photo in a process.
struct ProcessUse<Value> {
    let result: Result<Value, PhotoProduct.Failure>
    let isKept: Bool
    let mayBeOfEarlierPhotos: Bool
    let isTriedAgain: Bool

    init(_ value: Value) {
        result = .success(value)
        (isKept, mayBeOfEarlierPhotos, isTriedAgain) = (true, false, false)
    }

    /// - Parameters:
    ///   - isKept: whether the process may get another photo; false if the state of the process is in doubt.
    ///   - mayBeOfEarlierPhotos: whether earlier photos of the process may have caused the failure. If they may, a new
    ///     process tries the photo again.
    ///   - isTriedAgain: whether a new process tries the photo again in any case.
    init(
        failure: PhotoProduct.Failure, isKept: Bool = false, mayBeOfEarlierPhotos: Bool = false,
        isTriedAgain: Bool = false
    ) {
        result = .failure(failure)
        self.isKept = isKept
        self.mayBeOfEarlierPhotos = mayBeOfEarlierPhotos
        self.isTriedAgain = isTriedAgain
    }
}

/// The processes that develop photos and that are kept for further photos. Can be used by several threads at once.
///
/// A thread takes a process out of the pool for a photo, and no other thread uses the process until the thread puts it
/// back.
final class ProcessPool<Process: PooledProcess>: Sendable {
    private let idle = Locked<[Process]>([])

    deinit { endIdle() }

    /// Ends the processes that wait for photos.
    func endIdle() {
        for process in idle.exchange([]) { process.end() }
    }

    /// Develops a photo in an idle process, or in a new process if none is idle.
    /// - Parameter body: develops the photo. It is called again if a new process tries the photo again.
    func use<Value>(
        start: () throws(PhotoProduct.Failure) -> Process, _ body: (Process) -> ProcessUse<Value>
    ) throws(PhotoProduct.Failure) -> Value {
        var process = if let idle = take() { idle } else { try start() }
        while true {
            let hasServed = process.photos > 0
            let use = body(process)
            if use.isKept { putBack(process) } else { process.end() }
            guard use.isTriedAgain || hasServed && use.mayBeOfEarlierPhotos else { return try use.result.get() }
            process = try start()
        }
    }

    /// Takes an idle process; nil if there is none.
    func take() -> Process? {
        while let process = idle.withLock({ $0.popLast() }) {
            if process.isUsable { return process }
            process.end()
        }
        return nil
    }

    /// Keeps a process for another photo. Ends the process after 5,000 photos, because it may leak memory.
    func putBack(_ process: Process) {
        guard process.photos < 5000, process.isUsable else { return process.end() }
        idle.withLock { $0.append(process) }
    }
}

/// Starts a process for a photo, with up to 30 attempts.
/// - Parameters:
///   - what: the beginning of the message if no process starts.
///   - isCancelled: called every 20 ms.
/// - Throws: the failure of the photo.
func startProcess<Process>(
    _ what: String, unless isCancelled: () -> Bool, _ start: () throws(StartFailure) -> Process
) throws(PhotoProduct.Failure) -> Process {
    var attempts = 0
    while true {
        if isCancelled() { throw PhotoProduct.Failure.cancelled }
        do throws(StartFailure) {
            return try start()
        } catch {
            if isCancelled() { throw PhotoProduct.Failure.cancelled }
            attempts += 1
            guard error.retry != .never, attempts < 30 else {
                throw PhotoProduct.Failure(reason: error.reason, detail: "\(what): \(error.detail)")
            }
            // A cancellation does not wake this thread, so the thread polls for it.
            let end = ContinuousClock.now + (error.retry == .afterPause ? .seconds(1) : .zero)
            while .now < end, !isCancelled() { Thread.sleep(forTimeInterval: 0.02) }
        }
    }
}
